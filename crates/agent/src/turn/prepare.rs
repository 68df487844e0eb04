//! What a turn knows before anybody thinks: who wrote, in which language, what was said before.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use munshi_conversations::client_context::{self, ClientContext, ClientResumption, ConversationOverlay};
use munshi_conversations::marks::ReplyMarks;
use munshi_conversations::messages::{self, Message, MessageSpeaker, MessageStatus};
use munshi_conversations::outbox::{self, OutboxState};
use munshi_conversations::runs::{Run, RunConversation, RunLane};
use munshi_conversations::sessions::Session;
use munshi_conversations::whispers::{self, Whisper};
use munshi_conversations::{Error, Result};
use munshi_identity::{Person, Principal, persons};
use munshi_pack::{
    EarlierMessage, EarlierSpeaker, FromPack, PackRegistry, PackTurnContext, PromptContribution, QueryEntity,
    TurnQuery,
};
use munshi_privacy::{KnownPeopleCache, ProtectedPeople};
use munshi_safety::approvals::{self, Approval, ApprovalKind, ApprovalStatus};
use munshi_safety::budget::{self, OpenReservation, UsagePlan};
use munshi_safety::pipeline::{ActConcern, CallerAudience, TaintSource};
use munshi_safety::policy::DataResidency;
use munshi_store::Tx;
use munshi_tiers::precedence::TurnSituation;
use munshi_tiers::prompt::{RecallItem, UtteranceText};
use munshi_tiers::{ActivePlace, BindingResolution, precedence};
use munshi_types::tier::{Audience, LanguageCode};
use munshi_types::{ActId, ApprovalId, ConsentPurposeName, Id, MessageId, RunId, SessionId, Timestamp};
use serde_json::Value;

use super::join::OwnMessages;
use super::query::QueryVector;
use crate::engine::TurnEngineInner;
use crate::entities::SessionEntities;
use crate::reply_language::ReplyLanguage;

/// So many messages before this one tell a language.
const RECENT: usize = 5;
/// So many stored messages are compared with what a program says was said.
const MOST_COMPARED: u32 = 400;
/// In characters: so much is told of what was whispered.
const MOST_WHISPERED: usize = 6_000;

/// All that was read for a turn, on one snapshot of the database.
#[derive(Debug)]
pub(crate) struct PreparedTurn {
    pub(crate) session: Session,
    pub(crate) person: Option<Person>,
    pub(crate) principal: Principal,
    /// With the words and files of those that joined it.
    pub(crate) message: Message,
    /// Each of them by itself, the oldest first.
    pub(crate) own: Vec<Message>,
    /// Whether a program has written it, through its API key.
    pub(crate) is_program: bool,
    /// What was said before it, the oldest first: as it is stored, or as the program tells that brought it.
    pub(crate) history: Vec<Message>,
    pub(crate) client_context: Option<ClientContext>,
    /// What the answers that were brought belong to.
    pub(crate) resumed: Option<ClientResumption>,
    /// Taint of what a client program sent along.
    pub(crate) client_taint: BTreeSet<TaintSource>,
    pub(crate) reply_language: ReplyLanguage,
    pub(crate) pack_context: PackTurnContext,
    pub(crate) contributions: PromptContribution,
    /// Whose names and numbers no model elsewhere sees.
    pub(crate) people: ProtectedPeople,
    /// Questions of this conversation that nobody has answered, and those that were just put before the person.
    pub(crate) pending: Vec<Approval>,
    /// What questions about acts should name beyond what was asked for.
    pub(crate) target_descriptions: HashMap<ActId, Vec<ActConcern>>,
    /// Of our last words those that are still on their way, or never left: nobody can have answered them.
    pub(crate) unsent: HashSet<MessageId>,
    pub(crate) plan: UsagePlan,
    /// Which models the tenant lets see its data.
    pub(crate) residency: DataResidency,
    /// Whether the tenant keeps what its models are told.
    pub(crate) stores_prompts: bool,
    /// What the tenant lets people consent to: tools that name anything else are not offered.
    pub(crate) purposes: Arc<BTreeSet<ConsentPurposeName>>,
    /// What was set aside with the message, as far as it still is.
    pub(crate) reservation: Option<OpenReservation>,
    /// Whether a model beyond this machine may be asked.
    pub(crate) may_use_remote_model: bool,
    /// What colleagues tell the persona, and no turn was told yet.
    pub(crate) whispers: Vec<Whisper>,
    /// What was left out, in a few words each: it took too long, or too many wait.
    pub(crate) skipped: Vec<String>,
}

/// Where the conversation of a run is: where the run was when it paused or broke off, or where the session is by now.
pub(crate) fn find_place(run: &Run, session: &Session) -> Option<ActivePlace> {
    let place =
        run.snapshot.place.clone().or_else(|| session.active.as_ref().map(|active| active.place.clone()))?;
    // Where it began it is found as every conversation is.
    let is_front = run.binding() == Some(place.binding) && place.team.is_none();
    (!is_front).then_some(place)
}

pub(crate) fn read(
    tx: &mut Tx<'_>,
    run: &Run,
    mut session: Session,
    binding: &BindingResolution,
    (engine, ahead): (&TurnEngineInner, &QueryVector),
    now: Timestamp,
) -> Result<PreparedTurn> {
    let (packs, act_services) = (&engine.packs, &engine.act_services);
    let conversation = run.conversation()?;
    let Conversation { message, history, client_context, resumed, recalled, client_taint } =
        load_conversation(tx, run, &mut session)?;
    let OwnMessages { each: own, combined: message } = OwnMessages::load(tx, run, message)?;
    let person = persons::find(tx, conversation.person)?;
    let principal = principal(tx, run, person.as_ref());
    let policy = act_services.load_policy(tx)?;
    let mut pack_context = PackTurnContext {
        principal: principal.clone(),
        door: find_door(binding, &message),
        binding: conversation.binding,
        session: conversation.session,
        channel: conversation.channel,
        language: None,
        message: message.text.clone(),
        before: history.iter().map(to_earlier_message).collect(),
        standing: Arc::default(),
        tools: precedence::select_tools(&binding.team.body, &binding.agent.body).into(),
        packs: policy.packs.clone(),
        now,
        zone: binding.zone.clone(),
        query: Arc::new(build_query(packs, &message.text, &session, ahead)),
    };
    let reply_language =
        detect_reply_language(packs, &pack_context, &own, &history, person.as_ref(), binding);
    pack_context.language = Some(reply_language.person.clone());
    let (mut contributions, skipped) = gather_contributions(tx, engine, &pack_context, ahead)?;
    if is_said_in_group(&message) {
        contributions = contributions.without_personal();
    }
    let facts = contributions.facts.iter().map(|fact| &fact.text);
    pack_context.standing =
        contributions.profile.iter().chain(facts).map(|line| line.as_str().to_owned()).collect();
    contributions.recall.extend(recalled);
    let people = ProtectedPeople::from(std::mem::take(&mut contributions.people));
    let pending = list_questions(tx, conversation.session, &history)?;
    let target_descriptions = collect_pending_details(tx, packs, &pack_context, &pending)?;
    let is_asked = !pending.is_empty() || !session.entities["asked"].is_null();
    let unsent = if is_asked { unsent(tx, &history)? } else { HashSet::new() };
    let plan = budget::load_plan(tx, act_services.governor.settings())?;
    let reservation = find_reservation(tx, run, now)?;
    let whispers = list_whispers(tx, &session)?;
    Ok(PreparedTurn {
        whispers,
        session,
        person,
        principal,
        message,
        own,
        is_program: run.program_key().is_some(),
        history,
        client_context,
        resumed,
        client_taint,
        reply_language,
        pack_context,
        contributions,
        people,
        pending,
        target_descriptions,
        unsent,
        plan,
        residency: policy.residency.clone(),
        stores_prompts: policy.retention.prompts_days.is_some(),
        purposes: Arc::new(policy.consent.purposes.keys().cloned().collect()),
        reservation,
        may_use_remote_model: false,
        skipped,
    })
}

/// Whether others read along: it was said in a group, which writes as one person.
fn is_said_in_group(message: &Message) -> bool {
    message.marks["group"] == true
}

/// Through which door the person comes. Where others read along it is the public one at the least.
fn find_door(binding: &BindingResolution, message: &Message) -> CallerAudience {
    let own = binding.binding.door;
    CallerAudience::from(if is_said_in_group(message) { own.max(Audience::Public) } else { own })
}

/// The questions of the conversation that wait, and those of others that were asked in it.
fn list_questions(tx: &mut Tx<'_>, session: SessionId, history: &[Message]) -> Result<Vec<Approval>> {
    let mut pending = approvals::list_pending(tx, session.as_uuid())?;
    pending.retain(|approval| approval.kind == ApprovalKind::Act);
    for asked in list_asked(tx, history)? {
        if pending.iter().all(|known| known.id != asked.id) {
            pending.push(asked);
        }
    }
    Ok(pending)
}

/// What was set aside with the message.
fn find_reservation(tx: &mut Tx<'_>, run: &Run, now: Timestamp) -> Result<Option<OpenReservation>> {
    let Some(reservation) = run.reservation else { return Ok(None) };
    Ok(budget::find_reservation(tx, reservation, now)?)
}

impl PreparedTurn {
    /// While a person was asked to take over, how the team speaks comes before how the persona does.
    pub(crate) fn situation(&self) -> TurnSituation {
        match &self.session.active {
            Some(active) if active.is_awaiting(self.pack_context.now) => TurnSituation::Escalation,
            _ => TurnSituation::Usual,
        }
    }

    /// Reads whom the tenant has met, for turns that a model elsewhere may answer.
    pub(crate) fn load_known_people(&mut self, tx: &mut Tx<'_>, known: &KnownPeopleCache) -> Result<()> {
        self.may_use_remote_model = true;
        let mut met = known.load_met(tx, Some(self.session.person))?;
        met.others.append(&mut self.people.others);
        self.people = met;
        Ok(())
    }
}

/// What packs tell, and what is left out of it: what came too late, and what is optional while many wait.
fn gather_contributions(
    tx: &mut Tx<'_>,
    engine: &TurnEngineInner,
    pack_context: &PackTurnContext,
    ahead: &QueryVector,
) -> Result<(PromptContribution, Vec<String>)> {
    let (mut contributions, mut skipped) = (PromptContribution::default(), Vec::new());
    let is_busy = engine.waiting.is_busy(RunLane::Chat);
    skipped.extend(ahead.is_late.then(|| "looking up by meaning".to_owned()));
    for FromPack { pack, what: source } in &engine.packs.contexts {
        let is_had = pack_context.packs.has(pack);
        match source.optional().filter(|_| is_busy) {
            Some(what) if is_had => skipped.push(what.to_owned()),
            Some(_) => {}
            None if is_had => contributions.add(source.gather(tx, pack_context)?),
            // Whom a pack knows is hidden, though the tenant has it no longer.
            None => contributions.people.extend(source.gather(tx, pack_context)?.people),
        }
    }
    Ok((contributions, skipped))
}

/// The message as something to look by, where any pack does.
fn build_query(packs: &PackRegistry, message: &str, session: &Session, ahead: &QueryVector) -> TurnQuery {
    if !packs.contexts.iter().any(|source| source.what.wants_query()) {
        return TurnQuery::default();
    }
    let entities = SessionEntities::from_stored(&session.entities);
    let entities =
        entities.known().map(|known| QueryEntity { kind: known.kind, id: known.id, name: known.name });
    TurnQuery {
        tokens: munshi_lang::query_tokens(message),
        vector: ahead.vector.clone(),
        entities: entities.collect(),
    }
}

/// What packs name of the acts that wait in this conversation, as it was when they were asked about.
fn collect_pending_details(
    tx: &mut Tx<'_>,
    packs: &PackRegistry,
    pack_context: &PackTurnContext,
    pending: &[Approval],
) -> Result<HashMap<ActId, Vec<ActConcern>>> {
    let own = pending.iter().filter(|one| one.session == Some(pack_context.session.as_uuid()));
    let mut all = HashMap::new();
    for one in own.filter(|one| one.kind == ApprovalKind::Act) {
        all.insert(
            one.act,
            collect_act_details(tx, packs, pack_context, (&one.tool, &one.arguments), Some(one.asked_at))?,
        );
    }
    Ok(all)
}

/// What packs name of an act.
pub(crate) fn collect_act_details(
    tx: &mut Tx<'_>,
    packs: &PackRegistry,
    pack_context: &PackTurnContext,
    act: (&str, &Value),
    since: Option<Timestamp>,
) -> Result<Vec<ActConcern>> {
    let mut all = Vec::new();
    for check in packs.checks_of(&pack_context.packs) {
        all.extend(check.describe_target(tx, pack_context, act, since)?);
    }
    Ok(all)
}

/// What colleagues whispered since the last turn, the oldest first, as much as a turn is told. A turn before which nobody whispered
/// asks for nothing.
pub(crate) fn list_whispers(tx: &mut Tx<'_>, session: &Session) -> Result<Vec<Whisper>> {
    if session.whispers == 0 {
        return Ok(Vec::new());
    }
    let mut told = 0;
    let mut unused = whispers::list_unused(tx, session.id)?;
    unused.retain(|whisper| {
        told += whisper.text.chars().count();
        told <= MOST_WHISPERED
    });
    Ok(unused)
}

/// What was said before, as packs are told of it.
pub(crate) fn to_earlier_message(said: &Message) -> EarlierMessage {
    let by = match said.speaker {
        MessageSpeaker::Person => EarlierSpeaker::Person,
        MessageSpeaker::Persona => EarlierSpeaker::Persona,
        MessageSpeaker::Colleague(_) => EarlierSpeaker::Colleague,
    };
    let events = said.marks["events"].as_array().into_iter().flatten().map(|mark| &mark["event"]);
    let done = events.filter(|event| event["type"] == "tool_result" && event["ok"] == true);
    let results = done.filter_map(|event| event.pointer("/result/result").cloned()).collect();
    EarlierMessage { by, text: said.text.clone(), results }
}

/// A message and the conversation it stands in.
struct Conversation {
    message: Message,
    history: Vec<Message>,
    client_context: Option<ClientContext>,
    resumed: Option<ClientResumption>,
    recalled: Vec<RecallItem>,
    client_taint: BTreeSet<TaintSource>,
}

/// As it is stored, or as the program tells that brought it: then nothing of the session stands beside it but what is
/// known of the very same conversation.
fn load_conversation(tx: &mut Tx<'_>, run: &Run, session: &mut Session) -> Result<Conversation> {
    let (mut message, history) = load_window(tx, run, session, messages::READ)?;
    let found = if message.marks["brought"] == true { client_context::find(tx, run.id)? } else { None };
    let Some(client_context) = found else {
        let (resumed, recalled, client_taint) = (None, Vec::new(), BTreeSet::new());
        return Ok(Conversation { message, history, client_context: None, resumed, recalled, client_taint });
    };
    let more =
        u32::try_from(client_context.history.len()).unwrap_or(u32::MAX).saturating_mul(2).min(MOST_COMPARED);
    let history = match more > messages::READ {
        true => load_window(tx, run, session, more)?.1,
        false => history,
    };
    let overlay = client_context::overlay(&client_context, &history, &message);
    if let Some(words) = &client_context.words {
        (message.text, message.tokens) = (words.clone(), UtteranceText::new(words).tokens());
    }
    (session.summary, session.tainted_summary, session.summarised) = (None, None, -1);
    if !overlay.is_latest {
        session.entities = serde_json::Value::Object(serde_json::Map::default());
    }
    let mut client_taint = BTreeSet::new();
    if overlay.has_unknown || !client_context.notes.is_empty() {
        client_taint.insert(TaintSource::Document);
    }
    if !overlay.recalled.is_empty() || !client_context.since.is_empty() {
        client_taint.insert(TaintSource::Connector);
    }
    let resumed = client_context::find_resumption(tx, run, &client_context)?;
    let ConversationOverlay { history, recalled, .. } = overlay;
    let client_context = Some(client_context);
    Ok(Conversation { message, history, client_context, resumed, recalled, client_taint })
}

/// The run's own message and so many before it, however many have come since.
fn load_window(tx: &mut Tx<'_>, run: &Run, session: &Session, most: u32) -> Result<(Message, Vec<Message>)> {
    let conversation = run.conversation()?;
    let (id, number) = (conversation.session, conversation.number);
    let mut read = messages::list_newest(tx, id, number, most)?;
    if session.messages > number {
        read.extend(messages::list_replies_after(tx, id, number, most)?);
    }
    split_history(read, conversation).ok_or(Error::NoRun)
}

/// The run's own message, and what was said before it. Answers to earlier messages belong there too, though they were
/// given after this one had come.
fn split_history(read: Vec<Message>, conversation: &RunConversation) -> Option<(Message, Vec<Message>)> {
    let earlier: HashSet<RunId> =
        read.iter().filter(|said| said.number < conversation.number).map(|said| said.run).collect();
    let (own, mut others): (Vec<Message>, Vec<Message>) =
        read.into_iter().partition(|said| said.id == conversation.message);
    others.retain(|said| {
        said.number < conversation.number
            || (said.speaker == MessageSpeaker::Persona && earlier.contains(&said.run))
    });
    Some((own.into_iter().next()?, others))
}

/// Questions that the last thing we said has put before the person, beside those of their own acts: others' acts, and
/// whether something happened. A yes to anything else is no answer to them.
fn list_asked(tx: &mut Tx<'_>, history: &[Message]) -> Result<Vec<Approval>> {
    let last = history.iter().rev().take_while(|said| said.speaker == MessageSpeaker::Persona);
    let marks = last.filter(|said| said.marks.is_object());
    let marks = marks.filter_map(|said| serde_json::from_value::<ReplyMarks>(said.marks.clone()).ok());
    let mut ids: Vec<ApprovalId> = Vec::new();
    for ReplyMarks { asks, .. } in marks {
        ids.extend(
            asks.iter().map(|shown| shown.approval).filter(|id| !ids.contains(id)).collect::<Vec<_>>(),
        );
    }
    let mut found = Vec::new();
    for id in ids {
        found.extend(approvals::find(tx, id)?.filter(|approval| approval.state == ApprovalStatus::Pending));
    }
    Ok(found)
}

/// What of our last words waits to be sent, or never will be. What is being sent may have arrived, and so may what was taken back: a yes
/// to that is asked for again.
fn unsent(tx: &mut Tx<'_>, history: &[Message]) -> Result<HashSet<MessageId>> {
    let mut unsent = HashSet::new();
    for said in history.iter().rev().take_while(|said| said.speaker == MessageSpeaker::Persona) {
        let found = outbox::find(tx, said.id)?;
        let unseen = [OutboxState::Waiting, OutboxState::Failed, OutboxState::Cancelled];
        if found.is_some_and(|row| unseen.contains(&row.state)) {
            unsent.insert(said.id);
        }
    }
    Ok(unsent)
}

/// Who has left is nobody, and stays the one who wrote. Through a key nobody is more than it may be.
fn principal(tx: &Tx<'_>, run: &Run, person: Option<&Person>) -> Principal {
    let known = person.map_or_else(|| Principal::anonymous(tx.tenant()), |person| person.principal(tx));
    let known = match &run.key_use {
        Some(used) => used.cap(known),
        None => known,
    };
    Principal { person: run.person(), ..known }
}

/// By what the person has written, the last of it first; what a pack reads by itself is somebody else's words, and tells nothing of theirs.
fn detect_reply_language(
    packs: &PackRegistry,
    pack_context: &PackTurnContext,
    own: &[Message],
    history: &[Message],
    person: Option<&Person>,
    binding: &BindingResolution,
) -> ReplyLanguage {
    let is_own = |text: &str| {
        let context = PackTurnContext { message: text.to_owned(), ..pack_context.clone() };
        !packs.readers_of(&context.packs).any(|reader| reader.read(&context).is_some())
    };
    let (last, earlier) = own.split_last().map_or((None, own), |(last, earlier)| (Some(last), earlier));
    let said = history.iter().chain(earlier);
    let theirs = said.rev().filter(|said| said.speaker == MessageSpeaker::Person && said.language.is_some());
    let theirs = theirs.filter(|said| is_own(&said.text)).take(RECENT);
    let mut recent: Vec<LanguageCode> = theirs.filter_map(|said| said.language.clone()).collect();
    recent.reverse();
    let profile = person.and_then(|person| person.language);
    let words = last.map(|last| last.text.as_str()).filter(|text| is_own(text)).unwrap_or_default();
    ReplyLanguage::detect(words, &recent, profile, &binding.human.body.speech)
}

impl PreparedTurn {
    /// Whether only a host says who wrote: it may as well have written itself.
    pub(crate) fn is_vouched(&self) -> bool {
        self.message.marks["vouched"] == true
    }

    /// Whether several write as one here.
    pub(crate) fn is_in_group(&self) -> bool {
        is_said_in_group(&self.message)
    }

    /// Whether a question was asked in this conversation.
    pub(crate) fn is_pending_here(&self, approval: &Approval) -> bool {
        approval.session == Some(self.session.id.as_uuid())
    }

    /// What a model is told of what was said. What was refused is nothing that was said; an excuse is: without it a
    /// request that is made again reads as two. Where several messages came before the first was answered, each is told
    /// with its answer.
    pub(crate) fn prompt_messages(&self) -> Vec<&Message> {
        let is_told = |said: &&Message| {
            said.number > self.session.summarised
                && said.standing != MessageStatus::Refused
                && !said.text.is_empty()
        };
        let kept = if self.may_use_remote_model {
            messages::collect_local_only_runs(&self.history)
        } else {
            HashSet::new()
        };
        let told: Vec<&Message> =
            self.history.iter().filter(is_told).filter(|said| !kept.contains(&said.run)).collect();
        let mut ordered: Vec<&Message> = Vec::with_capacity(told.len());
        for said in &told {
            if ordered.iter().any(|known| known.id == said.id) {
                continue;
            }
            ordered.push(said);
            if said.speaker == MessageSpeaker::Person {
                let is_answer =
                    |other: &&&Message| other.run == said.run && other.speaker == MessageSpeaker::Persona;
                let Some(answer) = told.iter().find(is_answer) else { continue };
                // Those that joined it come before the answer that they share.
                ordered.extend(told.iter().filter(|other| has_joined(answer, other)));
                ordered.push(answer);
            }
        }
        ordered
    }
}

/// Whether a reply answers a message that joined its turn.
fn has_joined(reply: &Message, message: &Message) -> bool {
    let joined = reply.marks["joined"].as_array();
    let id = message.id.to_string();
    joined.is_some_and(|joined| joined.iter().any(|known| known.as_str() == Some(id.as_str())))
}
