// @ts-check
// An agent for node with fetch alone: registers, reads markets, buys a little, shows its position.
// The types stand in comments, so that it runs as it is; `tsc --checkJs` checks them.
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";

/** @typedef {{ id: string, question: string }} Market */
/** @typedef {{ shares_yes: number, cost_basis: number, question: string }} Position */
/** @typedef {{ success: boolean, error: string | null }} Result */

const url = process.env.SERVICE_API_URL ?? "http://127.0.0.1:8400";

/**
 * Call the service.
 * @template T
 * @param {string} path
 * @param {{ key?: string, body?: object, headers?: Record<string, string> }} [how]
 * @returns {Promise<T>}
 */
async function call(path, { key = "", body, headers = {} } = {}) {
  const answer = await fetch(url + path, {
    method: body ? "POST" : "GET",
    body: body && JSON.stringify(body),
    headers: {
      "Content-Type": "application/json",
      ...(key && { Authorization: `Bearer ${key}` }),
      ...headers,
    },
  });
  const text = await answer.text();
  if ([502, 503, 504].includes(answer.status)) throw new TypeError(text);
  if (!answer.ok) throw new Error(`${answer.status} ${text}`);
  return JSON.parse(text);
}

/**
 * Send an order; repeated with its key while the service cannot say what became of it.
 * @param {string} key
 * @param {object} order
 * @returns {Promise<Result>}
 */
async function send(key, order) {
  const headers = { "Idempotency-Key": randomUUID() };
  for (const pauseMs of [200, 1_000, 3_000, 10_000]) {
    try {
      return await call("/api/sdk/trade", { key, body: order, headers });
    } catch (error) {
      // fetch throws a TypeError where no answer came.
      if (!(error instanceof TypeError)) throw error;
      await pause(pauseMs);
    }
  }
  throw new Error("no answer: look at the trades before you send another order");
}

/** @type {string} */
const key =
  process.env.SERVICE_API_KEY ||
  /** @type {{ api_key: string }} */ (
    await call("/api/sdk/agents/register", { body: { name: "example-node" } })
  ).api_key;
const { markets } = /** @type {{ markets: Market[] }} */ (
  await call("/api/sdk/markets?limit=1", { key })
);
const result = await send(key, {
  market_id: markets[0].id,
  side: "yes",
  amount: 5,
  venue: "sim",
  source: "node:example",
  reasoning: "an example",
});
if (!result.success) throw new Error(result.error ?? "not bought");
const { positions } = /** @type {{ positions: Position[] }} */ (
  await call("/api/sdk/positions?venue=sim", { key })
);
for (const { shares_yes, cost_basis, question } of positions) {
  console.log(`${shares_yes.toFixed(2)} YES for ${cost_basis.toFixed(2)}: ${question}`);
}
