//! What a model proposes that is not sure of it: a yes should be for what packs name, too.

use munshi_conversations::Result;
use munshi_lang::Locale;
use munshi_store::Tx;
use serde_json::Value;

use super::{Turn, prepare};
use crate::phrases::log_unrendered;

const QUESTION: &str = "ask-go-ahead";

impl Turn {
    /// Puts what packs name of a proposed act before the question whether to go on.
    pub(crate) async fn insert_proposal_details(&mut self, state: &[String]) -> Result<()> {
        let Some((tool, arguments)) = state.iter().find_map(|state| parse_proposal(state)) else {
            return Ok(());
        };
        let Some((voice, before, question)) = self.split_question() else { return Ok(()) };
        let (packs, pack_context) =
            (self.setup.engine.packs.clone(), self.setup.prepared.pack_context.clone());
        let read = move |tx: &mut Tx<'_>| {
            prepare::collect_act_details(tx, &packs, &pack_context, (&tool, &arguments), None)
        };
        let named = self.setup.engine.db.read(self.setup.tenant(), read).await?;
        let said = named.iter().filter_map(|one| {
            let said = self.setup.engine.packs.render_phrase(voice, &one.phrase, &one.slots);
            log_unrendered(said, &one.phrase)
        });
        let lines: Vec<String> = said.collect();
        if !lines.is_empty() {
            self.reply.replace(&format!("{before} {} {question}", lines.join(" ")));
        }
        Ok(())
    }

    /// The voice in which the reply ends with the question, and what stands before it.
    fn split_question(&self) -> Option<(Locale, String, String)> {
        let text = self.reply.text().trim_end();
        Locale::all().find_map(|voice| {
            let question = self.setup.engine.phrasebook.render(QUESTION, voice, &[]).ok()?;
            let before = text.strip_suffix(question.trim_end())?.trim_end().to_owned();
            Some((voice, before, question))
        })
    }
}

/// The one act that an open question is about, where the model that left it says so.
fn parse_proposal(state: &str) -> Option<(String, Value)> {
    let open: Value = serde_json::from_str(state).ok()?;
    let [tool] = open["tools"].as_array()?.as_slice() else { return None };
    let tool = tool.as_str().filter(|_| open["wants"] == "go_ahead")?;
    Some((tool.to_owned(), open["arguments"].clone()))
}

#[cfg(test)]
mod tests {
    use super::parse_proposal;
    use serde_json::json;

    #[test]
    fn only_a_question_about_one_act_names_one() {
        let open = |wants: &str, tools: &[&str]| json!({ "wants": wants, "tools": tools, "arguments": { "amount": 1 } });
        let found = parse_proposal(&open("go_ahead", &["drop"]).to_string());
        assert_eq!(found, Some(("drop".to_owned(), json!({ "amount": 1 }))));
        for other in [open("go_ahead", &["drop", "note"]), open("which", &["drop"]), json!({}), json!("x")] {
            assert_eq!(parse_proposal(&other.to_string()), None);
        }
        assert_eq!(parse_proposal("no json"), None);
    }
}
