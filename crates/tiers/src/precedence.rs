//! Who decides what where tiers disagree.
//!
//! One table says it all: for every matter, who is heard, the first to have said something deciding. A tier that is not
//! named has no say. The prompt tells the model the same table in words, so that the two can't drift apart.

use munshi_types::ToolName;
use munshi_types::tier::TierKind::{Agent as A, Human as H, Team as T};
use munshi_types::tier::{Agent, Destination, Team, TierKind};

/// Something that two tiers may see differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TierMatter {
    /// What may happen at all: hard limits, procedures, a persona's no-go zones.
    Permission,
    /// How warm, how long, how playful.
    Tone,
    /// Signature phrases.
    Phrasing,
    Language,
    /// How formal.
    Register,
    /// Which of the agent's tools are used.
    ToolChoice,
    /// How many past episodes are called to mind.
    RecallDepth,
}

impl TierMatter {
    pub const ALL: [Self; 7] = [
        Self::Permission,
        Self::Tone,
        Self::Phrasing,
        Self::Language,
        Self::Register,
        Self::ToolChoice,
        Self::RecallDepth,
    ];

    pub const fn description(self) -> &'static str {
        match self {
            Self::Permission => "what may happen",
            Self::Tone => "tone",
            Self::Phrasing => "phrasing",
            Self::Language => "language",
            Self::Register => "register",
            Self::ToolChoice => "choice of tools",
            Self::RecallDepth => "how far to look back",
        }
    }
}

/// What kind of turn it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TurnSituation {
    #[default]
    Usual,
    /// A person has to take over, or is about to: for this turn the team's terseness comes before the human's charm.
    Escalation,
}

impl TurnSituation {
    pub const ALL: [Self; 2] = [Self::Usual, Self::Escalation];
}

/// The table: who is heard on a matter, the first first.
pub const fn order(matter: TierMatter, situation: TurnSituation) -> &'static [TierKind] {
    match (matter, situation) {
        (TierMatter::Permission, _) => &[A, T, H],
        (TierMatter::Tone | TierMatter::Phrasing, TurnSituation::Usual) | (TierMatter::Language, _) => {
            &[H, T]
        }
        (TierMatter::Tone | TierMatter::Phrasing, TurnSituation::Escalation) | (TierMatter::Register, _) => {
            &[T, H]
        }
        (TierMatter::ToolChoice | TierMatter::RecallDepth, _) => &[T, A],
    }
}

/// What each tier says on a matter; none where it says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TierStatements<V> {
    pub human: Option<V>,
    pub team: Option<V>,
    pub agent: Option<V>,
}

impl<V> TierStatements<V> {
    fn take_from(&mut self, tier: TierKind) -> Option<V> {
        match tier {
            H => self.human.take(),
            T => self.team.take(),
            A => self.agent.take(),
            TierKind::Binding => None,
        }
    }
}

/// Whose word counts, and the word. None where nobody who has a say said anything.
pub fn decide<V>(
    matter: TierMatter,
    situation: TurnSituation,
    mut said: TierStatements<V>,
) -> Option<(TierKind, V)> {
    order(matter, situation).iter().find_map(|tier| Some((*tier, said.take_from(*tier)?)))
}

/// Whether what `one` says stands against `other`.
pub fn overrides(one: TierKind, other: TierKind, matter: TierMatter, situation: TurnSituation) -> bool {
    let place = |tier| order(matter, situation).iter().position(|heard| *heard == tier);
    match (place(one), place(other)) {
        (Some(first), Some(second)) => first < second,
        (first, second) => first.is_some() && second.is_none(),
    }
}

/// How a tier says no to the one above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TierRefusal {
    /// "This goes against our procedures": recorded as a broken guardrail.
    Procedure,
    /// "The tool failed, the budget is spent, it is blocked": the team gives it a form, the human a voice.
    Machinery,
}

/// What a tier may refuse with; a human refuses nothing upward, for nobody stands above it.
pub const fn refusal(tier: TierKind) -> Option<TierRefusal> {
    match tier {
        T => Some(TierRefusal::Procedure),
        A => Some(TierRefusal::Machinery),
        H | TierKind::Binding => None,
    }
}

/// The tools a turn may use: the team's choice of what the agent has, in the agent's order, which is that of their
/// importance. A team can't reach for what the agent lacks.
pub fn select_tools(team: &Team, agent: &Agent) -> Vec<ToolName> {
    let said = TierStatements { human: None, team: team.tools.as_ref(), agent: Some(&agent.tools) };
    let chosen = decide(TierMatter::ToolChoice, TurnSituation::Usual, said).map(|(_, tools)| tools);
    let is_chosen =
        |tool: &&ToolName| chosen.is_some_and(|chosen| chosen.iter().any(|own| own.overlaps(tool)));
    agent.tools.iter().filter(is_chosen).cloned().collect()
}

/// Whether a turn may use a tool that a connector brings: the agent has the connector, and the team chose the tool or
/// made no choice.
pub fn allows_connector_tool(team: &Team, agent: &Agent, connector: &str, tool: &ToolName) -> bool {
    let is_chosen = team.tools.as_ref().is_none_or(|chosen| chosen.contains(tool));
    is_chosen && agent.connectors.iter().any(|name| name.as_str() == connector)
}

/// How many past episodes are called to mind.
pub fn recall_depth(team: &Team, agent: &Agent) -> u8 {
    let said = TierStatements { human: None, team: team.recall, agent: Some(agent.memory.episodes) };
    decide(TierMatter::RecallDepth, TurnSituation::Usual, said).map_or(0, |(_, depth)| depth)
}

/// Where a conversation may be handed on to: the ways the team names, and a person where it says when one takes over.
pub fn list_destinations(team: &Team) -> Vec<&Destination> {
    let mut ways: Vec<&Destination> = team.handoffs.iter().map(|way| &way.to).collect();
    if !team.escalation.when.is_empty() && !ways.contains(&&Destination::Person) {
        ways.push(&Destination::Person);
    }
    ways
}

/// Whether a conversation may be handed on there: only along those ways.
pub fn can_hand_over(team: &Team, to: &Destination) -> bool {
    list_destinations(team).contains(&to)
}

/// The table in words, for the model. Matters that are decided alike share a line.
pub fn render() -> String {
    let mut lines: Vec<(String, String)> = Vec::new();
    for matter in TierMatter::ALL {
        let (usual, escalation) =
            (order(matter, TurnSituation::Usual), order(matter, TurnSituation::Escalation));
        let mut who = render_order(matter, usual);
        if usual != escalation {
            who = format!("{who}; in an escalation {}", render_order(matter, escalation));
        }
        match lines.last_mut() {
            Some((matters, known)) if *known == who => {
                *matters = format!("{matters}, {}", matter.description());
            }
            _ => lines.push((matter.description().to_owned(), who)),
        }
    }
    let lines = lines.into_iter().map(|(matters, who)| format!("- {matters}: {who}\n"));
    format!("# Where these disagree, the first named decides\n{}", lines.collect::<String>())
}

fn render_order(matter: TierMatter, tiers: &[TierKind]) -> String {
    let names = tiers.iter().map(|tier| match tier {
        H => "you",
        T => "the team",
        A | TierKind::Binding if matter == TierMatter::Permission => "the hard limits",
        A | TierKind::Binding => "what is set for you",
    });
    names.collect::<Vec<_>>().join(", then ")
}

#[cfg(test)]
mod tests {
    use TierMatter::{Language, Permission, Phrasing, RecallDepth, Register, Tone, ToolChoice};
    use TurnSituation::{Escalation, Usual};

    use super::*;

    /// Every cell: who wins when all three speak, human and team, human and agent, team and agent, and each alone.
    type Row = (TierMatter, TurnSituation, [Option<TierKind>; 7]);
    const CELLS: [Row; 14] = [
        (Permission, Usual, [Some(A), Some(T), Some(A), Some(A), Some(H), Some(T), Some(A)]),
        (Permission, Escalation, [Some(A), Some(T), Some(A), Some(A), Some(H), Some(T), Some(A)]),
        (Tone, Usual, [Some(H), Some(H), Some(H), Some(T), Some(H), Some(T), None]),
        (Tone, Escalation, [Some(T), Some(T), Some(H), Some(T), Some(H), Some(T), None]),
        (Phrasing, Usual, [Some(H), Some(H), Some(H), Some(T), Some(H), Some(T), None]),
        (Phrasing, Escalation, [Some(T), Some(T), Some(H), Some(T), Some(H), Some(T), None]),
        (Language, Usual, [Some(H), Some(H), Some(H), Some(T), Some(H), Some(T), None]),
        (Language, Escalation, [Some(H), Some(H), Some(H), Some(T), Some(H), Some(T), None]),
        (Register, Usual, [Some(T), Some(T), Some(H), Some(T), Some(H), Some(T), None]),
        (Register, Escalation, [Some(T), Some(T), Some(H), Some(T), Some(H), Some(T), None]),
        (ToolChoice, Usual, [Some(T), Some(T), Some(A), Some(T), None, Some(T), Some(A)]),
        (ToolChoice, Escalation, [Some(T), Some(T), Some(A), Some(T), None, Some(T), Some(A)]),
        (RecallDepth, Usual, [Some(T), Some(T), Some(A), Some(T), None, Some(T), Some(A)]),
        (RecallDepth, Escalation, [Some(T), Some(T), Some(A), Some(T), None, Some(T), Some(A)]),
    ];
    const SPEAKERS: [&[TierKind]; 7] = [&[H, T, A], &[H, T], &[H, A], &[T, A], &[H], &[T], &[A]];

    #[test]
    fn every_cell_of_the_contract() {
        let mut seen = std::collections::BTreeSet::new();
        for (matter, situation, winners) in CELLS {
            assert!(seen.insert((matter, situation)));
            for (speakers, winner) in SPEAKERS.into_iter().zip(winners) {
                let says = |tier| speakers.contains(&tier).then_some(tier);
                let said = TierStatements { human: says(H), team: says(T), agent: says(A) };
                let decided = decide(matter, situation, said);
                assert_eq!(decided, winner.map(|tier| (tier, tier)), "{matter:?} {situation:?} {speakers:?}");
            }
        }
        assert_eq!(seen.len(), TierMatter::ALL.len() * TurnSituation::ALL.len(), "a cell is missing");
    }

    #[test]
    fn one_tier_stands_against_another_as_the_table_says() {
        assert!(overrides(H, T, Tone, Usual) && !overrides(H, T, Tone, Escalation));
        assert!(overrides(T, H, Permission, Usual) && overrides(A, T, Permission, Escalation));
        assert!(overrides(T, H, ToolChoice, Usual), "a human has no say in tools");
        assert!(!overrides(H, A, ToolChoice, Usual) && !overrides(A, A, Tone, Usual));
        for matter in TierMatter::ALL {
            for situation in TurnSituation::ALL {
                for (one, other) in [(H, T), (H, A), (T, A)] {
                    let both =
                        overrides(one, other, matter, situation) && overrides(other, one, matter, situation);
                    assert!(!both, "{matter:?}");
                }
            }
        }
    }

    #[test]
    fn refusals_go_upward_and_keep_their_kind() {
        let refusals = [refusal(H), refusal(T), refusal(A)];
        assert_eq!(refusals, [None, Some(TierRefusal::Procedure), Some(TierRefusal::Machinery)]);
    }

    #[test]
    fn a_team_chooses_among_the_tools_of_its_agent() {
        let tool = |name: &str| name.parse::<ToolName>().unwrap();
        let agent = Agent { tools: vec![tool("search"), tool("pay"), tool("notify")], ..Agent::default() };
        let any = Team::default();
        assert_eq!(select_tools(&any, &agent), agent.tools);
        let some =
            Team { tools: Some(vec![tool("notify"), tool("search"), tool("delete_all")]), ..any.clone() };
        assert_eq!(select_tools(&some, &agent), [tool("search"), tool("notify")]);
        assert_eq!(select_tools(&Team { tools: Some(Vec::new()), ..any.clone() }, &agent), []);
        assert_eq!(recall_depth(&any, &agent), 5);
        assert_eq!(recall_depth(&Team { recall: Some(0), ..any }, &agent), 0);
    }

    #[test]
    fn a_conversation_goes_only_where_the_team_lets_it() {
        let to = |text: &str| text.parse::<Destination>().unwrap();
        let way = munshi_types::tier::Handoff { to: to("support"), when: "returns".to_owned() };
        let team = Team { handoffs: vec![way], ..Team::default() };
        assert!(can_hand_over(&team, &to("support")));
        assert!(!can_hand_over(&team, &to("binding/support")) && !can_hand_over(&team, &to("sales")));
    }

    #[test]
    fn the_model_is_told_the_same_table() {
        insta::assert_snapshot!(render(), @r"
        # Where these disagree, the first named decides
        - what may happen: the hard limits, then the team, then you
        - tone, phrasing: you, then the team; in an escalation the team, then you
        - language: you, then the team
        - register: the team, then you
        - choice of tools, how far to look back: the team, then what is set for you
        ");
    }
}
