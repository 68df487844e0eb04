//! `bindings/NAME.toml`

use super::forms::{KEY, NAME, REFERENCE, SLICE_NAME};
use super::{Field, Shape, may, needed};

const NAMED: Shape = Shape::Word(&NAME);
const REFERRED: Shape = Shape::Word(&REFERENCE);

pub(super) const FIELDS: &[Field] = &[
    needed("human", NAMED, "Who speaks."),
    needed("team", NAMED, "In which job."),
    needed("agent", NAMED, "On what machinery."),
    may(
        "door",
        Shape::Choice(&["private", "work", "public", "distribution"]),
        "Who is on the other side: the owner, those who work there, peers, or the many; `distribution` unless given.",
    ),
    may(
        "channels",
        Shape::List(&Shape::Choice(&[
            "whatsapp", "web", "voice", "telegram", "slack", "email", "a2a", "ticket", "api",
        ])),
        "The ways in and out; WhatsApp and the web unless given.",
    ),
    may(
        "keys",
        Shape::List(&Shape::Word(&KEY)),
        "The addresses that lead here. Each leads to one binding of all tenants.",
    ),
    may(
        "slices",
        Shape::List(&Shape::Table(SLICE)),
        "Parts of the people who get something else, the same people every time.",
    ),
];

const SLICE: &[Field] = &[
    needed("name", Shape::Word(&SLICE_NAME), "Stands in the record of every turn of the slice."),
    needed(
        "share",
        Shape::Number { least: 0, most: 100 },
        "Of a hundred people; all slices together have at most a hundred.",
    ),
    may("binding", NAMED, "Another binding as a whole."),
    may("human", REFERRED, "Another human, or a version of one."),
    may("team", REFERRED, "Another team, or a version of one."),
    may("agent", REFERRED, "Another agent, or a version of one."),
];
