//! `bindings/NAME.toml`

use super::forms::{KEY, NAME, REFERENCE, SLICE_NAME};
use super::{TierField, ValueShape, may, needed};

const NAMED: ValueShape = ValueShape::Word(&NAME);
const REFERRED: ValueShape = ValueShape::Word(&REFERENCE);

pub(super) const FIELDS: &[TierField] = &[
    needed("human", NAMED, "Who speaks."),
    needed("team", NAMED, "In which job."),
    needed("agent", NAMED, "On what machinery."),
    may(
        "door",
        ValueShape::Choice(&["private", "work", "public", "distribution"]),
        "Who is on the other side: the owner, those who work there, peers, or the many; `distribution` unless given.",
    ),
    may(
        "channels",
        ValueShape::List(&ValueShape::Choice(&[
            "whatsapp", "web", "voice", "telegram", "slack", "email", "a2a", "ticket", "api",
        ])),
        "The ways in and out; WhatsApp and the web unless given.",
    ),
    may(
        "keys",
        ValueShape::List(&ValueShape::Word(&KEY)),
        "The addresses that lead here. Each leads to one binding of all tenants.",
    ),
    may(
        "slices",
        ValueShape::List(&ValueShape::Table(SLICE)),
        "Parts of the people who get something else, the same people every time.",
    ),
];

const SLICE: &[TierField] = &[
    needed("name", ValueShape::Word(&SLICE_NAME), "Stands in the record of every turn of the slice."),
    needed(
        "share",
        ValueShape::Number { least: 0, most: 100 },
        "Of a hundred people; all slices together have at most a hundred.",
    ),
    may("binding", NAMED, "Another binding as a whole."),
    may("human", REFERRED, "Another human, or a version of one."),
    may("team", REFERRED, "Another team, or a version of one."),
    may("agent", REFERRED, "Another agent, or a version of one."),
];
