//! All that is known about somebody, to be given to them. Who takes it out is written down.

use munshi_conversations::retention::ArchivePosition;
use munshi_erasure::export::{self, ExportPage, ExportPosition, ExportSubject, ExportedRecord};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, ListInput, Operation, OperationCaller, OperationEffect, OperationError, OperationErrorCode,
    OperationSpec, RouteMethod,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;
use uuid::Uuid;

use super::data_subject::{SubjectFinder, SubjectLock, SubjectName};
use crate::{HouseCall, HouseServices};

/// Whose data, and which part of it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ExportPersonInput {
    /// The person: an id, name, phone, e-mail or @handle; or, where nobody is known so, a pack's record of them, such as
    /// a contact of the books.
    pub id: String,
    /// Where contacts share a phone and `id` is an id: the id of the person or contact who is meant with it, or `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with: Option<String>,
    /// The `next` of the previous page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Records in one page; default 25.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 500)]
    pub limit: Option<u32>,
}

/// A part of what is known about somebody.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = PersonExport)]
pub struct PersonExportView {
    pub records: Vec<PersonalRecordView>,
    /// Where the next part begins; null at the end. A part may have no records and not be the last.
    pub next: Option<String>,
}

/// One thing that is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = PersonalRecord)]
pub struct PersonalRecordView {
    #[schema(example = "messages")]
    pub kind: String,
    pub id: Uuid,
    /// As it is kept; its fields depend on the kind.
    #[schema(value_type = Object)]
    pub data: Value,
}

impl From<ExportedRecord> for PersonalRecordView {
    fn from(record: ExportedRecord) -> Self {
        Self { kind: record.kind, id: record.id, data: record.data }
    }
}

pub struct ExportPerson;

impl Operation<HouseServices> for ExportPerson {
    type Input = ExportPersonInput;
    type View = PersonExportView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "persons",
        noun: "person",
        command: "person",
        verb: "export",
        about: "Take out all that is known about a person, page by page, to give it to them: their conversations, what was \
                done for them, their files by name, what packs know of them, and archived messages. The audit notes who \
                took it.",
        needs: CallerClass::Member(Area::Erasure, ApiAccess::Read),
        effect: OperationEffect::AuditedRead(&["person.exported"]),
        method: RouteMethod::Get,
        path: "/v1/persons/{id}/export",
    };

    async fn run(call: &HouseCall, input: ExportPersonInput) -> Result<PersonExportView, OperationError> {
        check_reach(&call.caller)?;
        let limit = ListInput { limit: input.limit, ..ListInput::default() }.page_size()?;
        let after = input.after.as_deref().map(str::parse::<ExportPosition>).transpose();
        let after = after.map_err(|problem| OperationError::field("after", problem))?;
        let named = SubjectName { id: input.id, with: input.with };
        let subject = find_subject(call, named, after.clone()).await?;
        let page = match after {
            Some(ExportPosition::Archive(at)) => load_archived(call, subject, at, limit).await?,
            after => {
                let page = load(call, subject.clone(), after, limit).await?;
                match page.next {
                    Some(ExportPosition::Archive(at)) if page.records.is_empty() => {
                        load_archived(call, subject, at, limit).await?
                    }
                    _ => page,
                }
            }
        };
        Ok(PersonExportView {
            records: page.records.into_iter().map(PersonalRecordView::from).collect(),
            next: page.next.map(|next| next.to_string()),
        })
    }
}

/// It tells of all bindings: whoever reaches only some of them is not shown what was said to others.
fn check_reach(caller: &OperationCaller) -> Result<(), OperationError> {
    if caller.bindings().is_none() {
        return Ok(());
    }
    let what = "A key for some bindings can't take out what all of them know.";
    Err(OperationError::new(OperationErrorCode::Forbidden, what).hint("Use a key for the whole workspace."))
}

/// Whose data it is. The audit is told before anything of it is read, in a unit as short as that: others wait for it.
async fn find_subject(
    call: &HouseCall,
    named: SubjectName,
    after: Option<ExportPosition>,
) -> Result<ExportSubject, OperationError> {
    let (caller, packs) = (call.caller.clone(), call.services.parts.packs()?);
    call.read_audited(move |tx| {
        let finder = SubjectFinder { caller: &caller, packs: &packs, lock: SubjectLock::None };
        let found = finder.find(tx, &named)?;
        let person = found.person.as_ref().map(|person| person.id);
        let subject = ExportSubject::load(tx, person, found.record_ids());
        let subject = subject.map_err(OperationError::unavailable)?;
        let after = after.map(|after| after.to_string());
        let payload = json!({ "persons": subject.persons, "records": subject.records, "after": after });
        let named = person.map(|person| person.to_string());
        tx.note("person.exported", named.unwrap_or_else(|| "record".to_owned()), payload);
        Ok(subject)
    })
    .await
}

async fn load(
    call: &HouseCall,
    subject: ExportSubject,
    after: Option<ExportPosition>,
    limit: u32,
) -> Result<ExportPage, OperationError> {
    let packs = call.services.parts.packs()?;
    call.read(move |tx| {
        let page = export::load_page(tx, &packs, &subject, after.as_ref(), limit);
        page.map_err(|error| match error {
            munshi_erasure::Error::InvalidPosition => OperationError::field("after", &error.to_string()),
            error => OperationError::unavailable(error),
        })
    })
    .await
}

/// From files, which a reader holds up nobody with.
async fn load_archived(
    call: &HouseCall,
    subject: ExportSubject,
    from: Option<ArchivePosition>,
    limit: u32,
) -> Result<ExportPage, OperationError> {
    let (folder, tenant) = (call.services.parts.archive_folder(), call.tenant.id);
    call.read(move |tx| {
        let page = export::load_archived_page(tx, (&folder, tenant), &subject, from.as_ref(), limit);
        page.map_err(OperationError::unavailable)
    })
    .await
}
