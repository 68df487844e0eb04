//! Why somebody is asked, and who may answer, in words.

use munshi_safety::pipeline::{ConsentGiver, ConsentReason, Risk};

pub const fn describe_reason(reason: ConsentReason) -> &'static str {
    match reason {
        ConsentReason::Proposes => "the agent may only propose",
        ConsentReason::Policy => "the policy requires approval",
        ConsentReason::Dangerous => "it is dangerous",
        ConsentReason::Destructive => "it is destructive",
        ConsentReason::Money => "it moves money",
        ConsentReason::Message => "it sends a message nobody has reviewed",
        ConsentReason::Tainted => "third-party text triggered it",
        ConsentReason::Concern => "a check found something unusual",
        ConsentReason::Egress => "it would send out data that was read",
        ConsentReason::Purpose => "the person has not consented to its purpose",
    }
}

pub const fn describe_consent_giver(needs: ConsentGiver) -> &'static str {
    match needs {
        ConsentGiver::Subject => "the person themself, and nobody in their place",
        ConsentGiver::Asker => "the requester, an owner or an admin",
        ConsentGiver::Approver => "an owner, an admin, or a role that may approve it",
    }
}

pub const fn describe_risk(risk: Risk) -> &'static str {
    match risk {
        Risk::Low => "low",
        Risk::Medium => "medium",
        Risk::High => "high",
    }
}
