//! `bindings/NAME.toml`

use munshi_types::tier::Channel;

use super::word_forms::{KEY, NAME, REFERENCE, SLICE_NAME};
use super::{TierField, ValueShape, optional, required};

const NAMED: ValueShape = ValueShape::Word(&NAME);
const REFERRED: ValueShape = ValueShape::Word(&REFERENCE);

/// Every channel there is.
pub(super) const CHANNELS: [&str; Channel::ALL.len()] = {
    let mut names = [""; Channel::ALL.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = Channel::ALL[at].as_str();
        at += 1;
    }
    names
};

pub(super) const FIELDS: &[TierField] = &[
    required("human", NAMED, "The human who speaks."),
    required("team", NAMED, "The team it works in."),
    required("agent", NAMED, "The agent it runs on."),
    optional(
        "door",
        ValueShape::Choice(&["private", "work", "public", "distribution"]),
        "The audience: the owner, staff, peers, or the public; default `distribution`.",
    ),
    optional(
        "channels",
        ValueShape::List(&ValueShape::Choice(&CHANNELS)),
        "The channels; default WhatsApp and the web.",
    ),
    optional(
        "keys",
        ValueShape::List(&ValueShape::Word(&KEY)),
        "The addresses that route here. Each is unique across all tenants.",
    ),
    optional(
        "slices",
        ValueShape::List(&ValueShape::Table(SLICE)),
        "Shares of people who get a variant. A person always gets the same one.",
    ),
];

const SLICE: &[TierField] = &[
    required("name", ValueShape::Word(&SLICE_NAME), "Recorded with every turn of the slice."),
    required(
        "share",
        ValueShape::Number { least: 0, most: 100 },
        "Percentage of people; all slices together have at most 100.",
    ),
    optional("binding", NAMED, "Another binding to use entirely."),
    optional("human", REFERRED, "Another human, or a version of one."),
    optional("team", REFERRED, "Another team, or a version of one."),
    optional("agent", REFERRED, "Another agent, or a version of one."),
];
