//! The last look at a reply before it is stored: the rest of the rules, and what packs have to say.

use std::time::Instant;

use munshi_conversations::Result;
use munshi_pack::Objection;
use munshi_store::Tx;
use serde_json::Value;

use super::Turn;
use super::notes::LastModelCall;
use super::setup::TurnSetup;

impl Turn {
    /// Gives what was found wrong beside what the rules found.
    pub(crate) async fn check(&mut self, model: &LastModelCall) -> Result<Vec<String>> {
        let begun = Instant::now();
        self.reply.finish();
        let mut found = Vec::new();
        if !self.setup.engine.packs.checks.is_empty() {
            let (pack_context, draft) = (&self.setup.prepared.pack_context, self.reply.text());
            let results = self.state.list_heard_results();
            let checks = self.setup.engine.packs.checks_of(&pack_context.packs);
            let objections =
                checks.flat_map(|check| check.check_reply(pack_context, draft, &results)).collect();
            found.extend(self.apply_objections(objections));
            // Last, so that no other objection takes its place.
            let mismatches = self.setup.find_mismatches(self.state.list_results()).await?;
            found.extend(self.apply_objections(mismatches));
            self.insert_proposal_details(&model.state).await?;
        }
        self.timings.check += begun.elapsed();
        Ok(found)
    }

    fn apply_objections(&mut self, objections: Vec<Objection>) -> Vec<String> {
        if let Some(instead) = objections.iter().find(|objection| objection.replaces) {
            let words = self.setup.phrase(&instead.phrase, &instead.slots);
            self.reply.replace(&words);
        } else {
            for objection in &objections {
                self.say_phrase(&objection.phrase, &objection.slots);
            }
        }
        objections.into_iter().map(|objection| objection.what).collect()
    }
}

impl TurnSetup {
    /// What does not agree after it was done; it is said, never passed over.
    async fn find_mismatches(&self, done: Vec<(String, Value)>) -> Result<Vec<Objection>> {
        if done.is_empty() {
            return Ok(Vec::new());
        }
        let (packs, pack_context) = (self.engine.packs.clone(), self.prepared.pack_context.clone());
        let read = move |tx: &mut Tx<'_>| -> Result<Vec<Objection>> {
            let mut found = Vec::new();
            for check in packs.checks_of(&pack_context.packs) {
                for (tool, result) in &done {
                    found.extend(check.check_after_act(tx, &pack_context, tool, result)?);
                }
            }
            Ok(found)
        };
        self.engine.db.read(self.tenant(), read).await
    }
}
