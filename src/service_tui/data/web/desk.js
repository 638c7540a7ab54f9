// Connects the terminal of this page with a console. The token stands behind the # of the address,
// which no browser sends to anybody; this tab alone keeps it.
"use strict";

const ENDED = 1000;
const RETRY_MS = 1000;
const KEY = "token";

const notice = document.getElementById("notice");
const reason = document.getElementById("reason");
const again = document.getElementById("again");

function say(text, mayOpen) {
  reason.textContent = text;
  again.hidden = !mayOpen;
  notice.hidden = false;
  if (mayOpen) again.focus();
}

async function reconnect() {
  let answer;
  try {
    answer = await fetch(`/alive/${token}`, { cache: "no-store" });
  } catch {
    say("Connection lost. Trying again every second; orders already sent are not repeated.", false);
    setTimeout(reconnect, RETRY_MS);
    return;
  }
  if (answer.ok) location.reload();
  else if (answer.status === 503) say("All console pages are in use. Close one, then open again.", true);
  else say("This address is no longer valid. Use the one that 'service-tui web' printed last.", false);
}

class WatchedSocket extends WebSocket {
  constructor(url) {
    super(url);
    this.addEventListener("close", (event) => {
      if (event.code === ENDED) say("The console has ended.", true);
      else reconnect();
    });
  }
}

const token = location.hash.slice(1) || sessionStorage.getItem(KEY) || "";
history.replaceState(null, "", "/");

// Keys belong to the console, from the first one on.
function focusConsole() {
  if (notice.hidden) document.querySelector(".xterm-helper-textarea")?.focus();
}

addEventListener("load", () => setTimeout(focusConsole));
addEventListener("focus", focusConsole);
again.addEventListener("click", () => location.reload());
if (/^[\w-]{20,}$/.test(token)) {
  sessionStorage.setItem(KEY, token);
  window.WebSocket = WatchedSocket;
  const terminal = document.getElementById("terminal");
  terminal.dataset.sessionWebsocketUrl = `ws://${location.host}/ws/${token}`;
  terminal.dataset.fontSize = "16";
  terminal.classList.add("textual-terminal");
} else {
  say("This page needs the whole address that 'service-tui web' printed, with the part after #.", false);
}
