//! Packs of a tenant: two of them may have a tool of one name, and a tenant has only those that it lists.

use std::sync::Arc;

use munshi_agent::RunOutcome;
use munshi_identity::Role;
use munshi_pack::{InvalidPack, Pack, PackInstaller, PackRegistry};
use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_test_app::{TenantFiles, TestApp, build_message, parse_target};
use munshi_test_support::TestDb;
use munshi_test_support::models::{ScriptedModel, ScriptedTurn};
use munshi_tools::{ReadToolHandler, ToolFailure, ToolHandler, ToolOutput};
use munshi_types::{Reach, ToolSpec};
use serde_json::json;

/// Its one tool says which pack it is of.
struct Compass(&'static str);

struct Look(&'static str);

impl Pack for Compass {
    fn name(&self) -> &'static str {
        self.0
    }

    fn install(&self, room: &mut PackInstaller<'_>) -> Result<(), InvalidPack> {
        let name = "look".parse().map_err(|_| InvalidPack::Twice("look".to_owned()))?;
        let spec = ToolSpec::read_only(name, "Looks.", format!("{}.look.read", self.0));
        let spec = ToolSpec { reach: Reach::Business, ..spec };
        room.add_tool(spec, ToolHandler::Read(Arc::new(Look(self.0))))
    }
}

#[async_trait::async_trait]
impl ReadToolHandler for Look {
    fn read(&self, _: &Permit, _: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        Ok(ToolOutput::new(json!({ "from": self.0 })))
    }
}

/// What comes of a message to an agent with these tools, of a tenant with this policy; and what its model was offered.
async fn ask(test: &TestDb, (name, tools, policy): (&str, &str, &str)) -> (RunOutcome, Vec<String>, String) {
    let packs: [Arc<dyn Pack>; 2] = [Arc::new(Compass("north")), Arc::new(Compass("south"))];
    let script = [ScriptedTurn::call("look", &json!({})), ScriptedTurn::text("That is all.")];
    let model = Arc::new(ScriptedModel::new(script));
    let builder = TestApp::builder(test).with_packs(PackRegistry::install_all(&packs).unwrap());
    let app = builder.with_model(model.clone()).build();
    let agent = format!(
        "name = \"Plain\"\ntools = [{tools}]\n[policy]\nautonomy = \"act\"\nread = [\"*\"]\nwrite = [\"*\"]\n"
    );
    let files = TenantFiles::shop(name).with_agent(&agent).with_policy(policy);
    let tenant = app.apply_tenant(&files).await;
    let owner = app.add_person(tenant, "Farid", Some(Role::Owner)).await;
    let to = parse_target(&format!("handle:{name}"));
    let received = app.engine.receive(build_message(to, owner, "1", "look around")).await.unwrap();
    let outcome = app.wait_for_outcome(&received).await;
    let asked = model.requests().remove(0).request;
    let offered = asked.tools.iter().map(|tool| tool.module().to_owned()).collect();
    (outcome, offered, asked.system.join("\n"))
}

on_both! {
    async fn of_two_tools_with_one_name_the_agents_is_called(test: TestDb) {
        for pack in ["north", "south"] {
            let (outcome, offered, told) = ask(&test, (pack, &format!("\"{pack}.look\""), "")).await;
            assert_eq!(offered, [pack]);
            assert!(!told.contains("not there now") && told.contains("tool"), "{told}");
            assert_eq!(outcome.calls.len(), 1, "{outcome:?}");
            assert_eq!(outcome.calls[0].result["result"]["from"], pack, "{outcome:?}");
        }
    }

    async fn a_bare_name_is_the_tool_of_the_pack_that_the_tenant_has(test: TestDb) {
        let (outcome, offered, _) = ask(&test, ("listed", "\"look\"", "packs = [\"south\"]")).await;
        assert_eq!(offered, ["south"]);
        assert_eq!(outcome.calls[0].result["result"]["from"], "south", "{outcome:?}");
    }

    async fn what_the_tenant_does_not_list_is_neither_offered_nor_done(test: TestDb) {
        let (outcome, offered, _) = ask(&test, ("closed", "\"north.look\"", "packs = [\"south\"]")).await;
        assert!(offered.is_empty());
        assert_eq!(outcome.calls[0].result["ok"], false, "{outcome:?}");
        assert!(!outcome.calls[0].result.to_string().contains("from"), "{outcome:?}");
    }
}
