"""A desk with something on every screen."""

from dataclasses import replace

from kit.console.doors import seen_before
from kit.samples.fleet import fleet_state
from kit.samples.guarded import guarded_state
from kit.samples.log import sample_log
from kit.samples.reactor import reactor_state
from kit.samples.research import research_sample
from kit.samples.wallet import redemption_of, wallet_of
from service_tui.desk.checked_records import tree_of, value_of
from service_tui.desk.state import DeskState


def whole_desk() -> DeskState:
    """A desk with something on every screen."""
    guarded, fleet = guarded_state(), fleet_state()
    state = replace(
        seen_before(guarded),
        reactor=reactor_state().reactor,
        fleet=fleet.fleet,
        # The output of a skill is not recorded.
        supervision=replace(fleet.supervision, tail=None),
        research=research_sample(),
        redemption=redemption_of(),
        wallet=wallet_of(),
        log=sample_log(),
    )
    # The samples hold escapes, to be met by screens; the wire lets none into a state.
    clean: DeskState = value_of(DeskState, tree_of(state))
    return clean
