//! The table of consents.

use munshi_store::{
    Cursor, Error as StoreError, Page, PageRequest, Row, SealedColumn, Tx, params, sql_in_both_orders,
};
use munshi_types::tier::Channel;
use munshi_types::tier::LanguageCode;
use munshi_types::{ConsentId, ConsentPurposeName, Id, PersonId, Timestamp};

use super::PurposeConsent;
use crate::acts;
use crate::error::Result;
use crate::policy::{ConsentRules, ConsentWording};

const WORDS: SealedColumn = SealedColumn::new("consents", "words").forgotten_as("");

pub(super) fn insert(tx: &mut Tx<'_>, consent: &PurposeConsent) -> Result<()> {
    let by = acts::seal_by(tx, Some(consent.person))?;
    let words = tx.seal(by, WORDS.cell(consent.id), &consent.words)?;
    tx.execute(
        "INSERT INTO consents (tenant_id, id, person_id, purpose, words, language, approval_id, message_id, given_via,
           given_at, ends_at, channel, key_id, wording, recipient)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)",
        params![
            consent.id,
            consent.person,
            consent.purpose.as_str(),
            words,
            consent.language.as_ref().map(LanguageCode::as_str),
            consent.approval,
            consent.message,
            consent.given_via,
            consent.given_at,
            consent.ends_at,
            consent.channel.map(Channel::as_str),
            consent.key,
            consent.wording.as_ref().map(ConsentWording::as_str),
            consent.recipient
        ],
    )?;
    Ok(())
}

pub fn find(tx: &mut Tx<'_>, id: ConsentId) -> Result<Option<PurposeConsent>> {
    Ok(tx.optional(
        "SELECT id, person_id, purpose, words, language, approval_id, message_id, given_via, given_at, ends_at,
                withdrawn_at, withdrawn_via, channel, key_id, wording, recipient
         FROM consents WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )?)
}

/// The consent that somebody's acts for a purpose may rest on at this moment: of those that were given to what is asked today, the one that
/// holds longest.
pub fn find_valid(
    tx: &mut Tx<'_>,
    rules: &ConsentRules,
    (person, purpose): (PersonId, &ConsentPurposeName),
    now: Timestamp,
) -> Result<Option<ConsentId>> {
    let open: Vec<(ConsentId, Option<ConsentWording>)> = tx.all(
        "SELECT id, wording FROM consents
         WHERE tenant_id = $1 AND person_id = $2 AND purpose = $3 AND withdrawn_at IS NULL AND ends_at > $4
         ORDER BY ends_at DESC, id DESC LIMIT 100",
        params![person, purpose.as_str(), now],
        |row| Ok((row.get(0)?, row.get::<Option<String>>(1)?.map(ConsentWording::from_stored))),
    )?;
    let is_asked_so = |wording: &ConsentWording| rules.asks_so(purpose, wording);
    let valid = open.into_iter().find(|(_, wording)| wording.as_ref().is_some_and(is_asked_so));
    Ok(valid.map(|(id, _)| id))
}

/// Whether an act may still rest on this one.
pub fn is_valid(tx: &mut Tx<'_>, rules: &ConsentRules, id: ConsentId, now: Timestamp) -> Result<bool> {
    let open: Option<(String, Option<String>)> = tx.optional(
        "SELECT purpose, wording FROM consents
         WHERE tenant_id = $1 AND id = $2 AND withdrawn_at IS NULL AND ends_at > $3",
        params![id, now],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let Some((purpose, Some(wording))) = open else { return Ok(false) };
    let wording = ConsentWording::from_stored(wording);
    Ok(purpose.parse::<ConsentPurposeName>().is_ok_and(|purpose| rules.asks_so(&purpose, &wording)))
}

/// Those of one person, newest first or the other way round.
pub fn list(tx: &mut Tx<'_>, person: PersonId, request: &PageRequest) -> Result<Page<PurposeConsent>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT id, person_id, purpose, words, language, approval_id, message_id, given_via, given_at, ends_at,
                    withdrawn_at, withdrawn_via, channel, key_id, wording, recipient
             FROM consents WHERE tenant_id = $1 AND (given_at, id) < ($2, $3) AND person_id = $4
             ORDER BY given_at DESC, id DESC LIMIT $5"
        )),
        params![request.after.time, request.after.id, person, request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |consent| Cursor { time: consent.given_at, id: consent.id.as_uuid() }))
}

/// Those of somebody that have neither ended nor been withdrawn, the newest first.
pub(super) fn list_open(tx: &mut Tx<'_>, person: PersonId, now: Timestamp) -> Result<Vec<PurposeConsent>> {
    Ok(tx.all(
        "SELECT id, person_id, purpose, words, language, approval_id, message_id, given_via, given_at, ends_at,
                withdrawn_at, withdrawn_via, channel, key_id, wording, recipient
         FROM consents WHERE tenant_id = $1 AND person_id = $2 AND withdrawn_at IS NULL AND ends_at > $3
         ORDER BY given_at DESC, id DESC",
        params![person, now],
        read,
    )?)
}

/// Ends all of somebody's that hold for a purpose, and says how many.
pub(super) fn end_all(
    tx: &mut Tx<'_>,
    (person, purpose): (PersonId, &ConsentPurposeName),
    via: &str,
    now: Timestamp,
) -> Result<u64> {
    Ok(tx.execute(
        "UPDATE consents SET withdrawn_at = $4, withdrawn_via = $5
         WHERE tenant_id = $1 AND person_id = $2 AND purpose = $3 AND withdrawn_at IS NULL AND ends_at > $4",
        params![person, purpose.as_str(), now, via],
    )?)
}

/// The same for all purposes.
pub(super) fn end_open(tx: &mut Tx<'_>, person: PersonId, via: &str, now: Timestamp) -> Result<u64> {
    Ok(tx.execute(
        "UPDATE consents SET withdrawn_at = $3, withdrawn_via = $4
         WHERE tenant_id = $1 AND person_id = $2 AND withdrawn_at IS NULL AND ends_at > $3",
        params![person, now, via],
    )?)
}

/// What either of two that turn out to be one has agreed to before the other withdrew that purpose, for the same address where it is for
/// one; the newest first.
pub(super) fn list_withdrawn_by_other(
    tx: &mut Tx<'_>,
    from: PersonId,
    into: PersonId,
) -> Result<Vec<(ConsentId, String)>> {
    Ok(tx.all(
        "SELECT id, purpose FROM consents
         WHERE tenant_id = $1 AND person_id IN ($2, $3) AND withdrawn_at IS NULL AND given_at <= (
           SELECT MAX(w.withdrawn_at) FROM consents w
           WHERE w.tenant_id = $1 AND w.person_id IN ($2, $3) AND w.purpose = consents.purpose
             AND w.recipient IS NOT DISTINCT FROM consents.recipient)
         ORDER BY given_at DESC, id DESC",
        params![from, into],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?)
}

/// Ends them, and gives all of one to the other. The words stay under the key that they name.
pub(super) fn move_all(tx: &mut Tx<'_>, from: PersonId, into: PersonId) -> Result<u64> {
    tx.execute(
        "UPDATE consents SET withdrawn_via = 'merge', withdrawn_at = (
           SELECT MAX(w.withdrawn_at) FROM consents w
           WHERE w.tenant_id = $1 AND w.person_id IN ($2, $3) AND w.purpose = consents.purpose
             AND w.recipient IS NOT DISTINCT FROM consents.recipient)
         WHERE tenant_id = $1 AND person_id IN ($2, $3) AND withdrawn_at IS NULL AND given_at <= (
           SELECT MAX(w.withdrawn_at) FROM consents w
           WHERE w.tenant_id = $1 AND w.person_id IN ($2, $3) AND w.purpose = consents.purpose
             AND w.recipient IS NOT DISTINCT FROM consents.recipient)",
        params![from, into],
    )?;
    Ok(tx.execute(
        "UPDATE consents SET person_id = $3 WHERE tenant_id = $1 AND person_id = $2",
        params![from, into],
    )?)
}

/// All of both, until the transaction ends: nobody withdraws anything meanwhile that this does not see.
pub(super) fn lock(tx: &mut Tx<'_>, from: PersonId, into: PersonId) -> Result<()> {
    tx.all(
        (
            "SELECT id FROM consents WHERE tenant_id = $1 AND person_id IN ($2, $3)",
            "SELECT id FROM consents WHERE tenant_id = $1 AND person_id IN ($2, $3) ORDER BY id FOR UPDATE",
        ),
        params![from, into],
        |row| row.get::<ConsentId>(0),
    )?;
    Ok(())
}

fn read(row: &Row<'_>) -> munshi_store::Result<PurposeConsent> {
    let odd = |what: &str| StoreError::Decode(format!("a consent has an invalid {what}"));
    let id: ConsentId = row.get("id")?;
    let language: Option<String> = row.get("language")?;
    let channel: Option<String> = row.get("channel")?;
    Ok(PurposeConsent {
        id,
        person: row.get("person_id")?,
        purpose: row.get::<String>("purpose")?.parse().map_err(|_| odd("purpose"))?,
        words: row.get_sealed("words", WORDS.cell(id))?,
        wording: row.get::<Option<String>>("wording")?.map(ConsentWording::from_stored),
        language: language.map(|code| code.parse().map_err(|_| odd("language"))).transpose()?,
        approval: row.get("approval_id")?,
        recipient: row.get("recipient")?,
        message: row.get("message_id")?,
        given_via: row.get("given_via")?,
        channel: channel.map(|name| name.parse().map_err(|_| odd("channel"))).transpose()?,
        key: row.get("key_id")?,
        given_at: row.get("given_at")?,
        ends_at: row.get("ends_at")?,
        withdrawn_at: row.get("withdrawn_at")?,
        withdrawn_via: row.get("withdrawn_via")?,
    })
}
