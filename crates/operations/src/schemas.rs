//! How words of the crates below stand in the document.

use utoipa::ToSchema;

/// A role in the business, from most to least privileged.
#[derive(ToSchema)]
#[schema(as = Role, rename_all = "snake_case")]
#[allow(dead_code, reason = "the document reads it, nobody makes one")]
pub enum RoleSchema {
    Owner,
    Admin,
    Staff,
    Viewer,
}

/// A kind of tier.
#[derive(ToSchema)]
#[schema(as = Kind, rename_all = "snake_case")]
#[allow(dead_code, reason = "the document reads it, nobody makes one")]
pub enum TierKindSchema {
    Human,
    Team,
    Agent,
    Binding,
}

/// Who speaks with a key.
#[derive(ToSchema)]
#[schema(as = SpeaksAs, rename_all = "snake_case")]
#[allow(dead_code, reason = "the document reads it, nobody makes one")]
pub enum KeySpeakerSchema {
    /// Somebody types what is sent.
    Person,
    /// A program, whose words may be a model's.
    Program,
}

/// What may happen for a tenant.
#[derive(ToSchema)]
#[schema(as = TenantStatus, rename_all = "snake_case")]
#[allow(dead_code, reason = "the document reads it, nobody makes one")]
pub enum TenantStatusSchema {
    Active,
    /// Answers nobody and runs no work until resumed.
    Paused,
    /// Never answers again; its data and its name are kept.
    Archived,
}

/// Where a job is on its way.
#[derive(ToSchema)]
#[schema(as = JobState, rename_all = "snake_case")]
#[allow(dead_code, reason = "the document reads it, nobody makes one")]
pub enum JobStateSchema {
    Scheduled,
    Ready,
    Running,
    Done,
    /// Given up until somebody retries it.
    Dead,
}

/// Where an outgoing message is on its way.
#[derive(ToSchema)]
#[schema(as = OutboxState, rename_all = "snake_case")]
#[allow(dead_code, reason = "the document reads it, nobody makes one")]
pub enum OutboxStateSchema {
    Waiting,
    Sending,
    Sent,
    /// It may have arrived; sending it again might double it.
    Unknown,
    /// Given up, or refused by a rule.
    Failed,
    Cancelled,
}

/// Through which door somebody comes.
#[derive(ToSchema)]
#[schema(as = CallerDoor, rename_all = "snake_case")]
#[allow(dead_code, reason = "the document reads it, nobody makes one")]
pub enum DoorSchema {
    Private,
    Work,
    Public,
    Distribution,
    /// Other people's agents.
    Agents,
}
