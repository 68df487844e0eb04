//! Other people's programs that speak OpenAI's API, unmodified, against the program: its Python and JavaScript packages,
//! LangChain and the `llm` command.

use std::process::{Command, Output};
use std::time::Duration;

use munshi_test_support::{DatabaseEngine, environment};
use serde_json::{Value, json};

use crate::app::chat::shop_of;
use crate::app::support::{Answer, Installation, Running, Speaking};

/// A model that opens at nine, counts what it was told, and looks at the weather with whatever tool there is for it.
fn model() -> Speaking {
    Speaking::answering(Duration::from_millis(2), |request| {
        let messages: Vec<&Value> =
            request["messages"].as_array().unwrap().iter().filter(|one| one["role"] != "system").collect();
        let said = messages.last().unwrap();
        let text = said["content"].as_str().unwrap_or_default();
        let offers = |name: &str| {
            request["tools"]
                .as_array()
                .is_some_and(|all| all.iter().any(|tool| tool["function"]["name"] == name))
        };
        match text {
            _ if said["role"] == "tool" => Answer::words("It is sunny in Pune."),
            text if text.contains("weather") && offers("get_weather") => {
                Answer::call("get_weather", json!({ "city": "Pune" }))
            }
            text if text.contains("count the messages") => {
                Answer::words(&format!("There are {} messages.", messages.len()))
            }
            _ => Answer::words("We open at nine. Come soon."),
        }
    })
}

struct Served {
    installation: Installation,
    _server: Running,
    url: String,
    key: String,
    _model: Speaking,
}

fn served() -> Served {
    let model = model();
    let (installation, key) = shop_of(DatabaseEngine::Sqlite, &model);
    let installation = installation.with("MUNSHI__ROUTES__EMBEDDINGS", "offline");
    let server = Running::start(installation.command(&["serve", "--json"]), &installation.folder());
    let url = format!("http://{}/v1", server.address);
    Served { installation, _server: server, url, key, _model: model }
}

fn script(name: &str) -> String {
    format!("{}/tests/clients/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A program with nothing of this machine but its path, and no way to reach anybody else by accident.
fn program(name: &str, served: &Served) -> Command {
    let mut command = Command::new(name);
    let clients = environment::openai_clients();
    command.env_clear().env("PATH", environment::path()).env("HOME", served.installation.folder());
    command
        .env("PYTHONPATH", clients.join("python"))
        .env("LLM_USER_PATH", served.installation.folder().join("llm"));
    command.current_dir(served.installation.folder());
    command
}

#[track_caller]
fn went_well(output: &Output) -> String {
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told}\n{}", String::from_utf8_lossy(&output.stderr));
    told
}

#[test]
fn openais_python_package_is_at_home() {
    let served = served();
    let mut python = program("python3", &served);
    went_well(&python.args(["-B", &script("openai_python.py"), &served.url, &served.key]).output().unwrap());
}

#[test]
fn openais_javascript_package_is_at_home() {
    let served = served();
    let package = environment::openai_clients().join("node/node_modules/openai");
    let mut node = program("node", &served);
    went_well(
        &node.arg(script("openai_js.mjs")).arg(package).args([&served.url, &served.key]).output().unwrap(),
    );
}

#[test]
fn langchain_is_at_home() {
    let served = served();
    let mut python = program("python3", &served);
    went_well(&python.args(["-B", &script("with_langchain.py"), &served.url, &served.key]).output().unwrap());
}

#[test]
fn the_llm_command_is_at_home() {
    let served = served();
    let home = served.installation.folder().join("llm");
    std::fs::create_dir_all(&home).unwrap();
    let known = format!(
        "- model_id: shop\n  model_name: counter\n  api_base: {}\n  api_key_name: munshi\n  supports_tools: true\n",
        served.url
    );
    std::fs::write(home.join("extra-openai-models.yaml"), known).unwrap();
    std::fs::write(home.join("keys.json"), json!({ "munshi": served.key }).to_string()).unwrap();
    let llm = |more: &[&str]| {
        let mut python = program("python3", &served);
        went_well(&python.args(["-B", "-m", "llm"]).args(more).output().unwrap())
    };
    assert_eq!(llm(&["-m", "shop", "When do you open?"]).trim(), "We open at nine. Come soon.");
    assert_eq!(
        llm(&["-m", "shop", "--no-stream", "When do you open?"]).trim(),
        "We open at nine. Come soon."
    );
    // It keeps the conversation itself, and sends all of it.
    assert_eq!(llm(&["-m", "shop", "-c", "count the messages"]).trim(), "There are 3 messages.");
    let weather = "def get_weather(city: str) -> str:\n    \"\"\"The weather.\"\"\"\n    return 'sunny'\n";
    let told = llm(&["-m", "shop", "--functions", weather, "the weather in Pune?"]);
    assert!(told.contains("It is sunny in Pune."), "{told}");
}
