//! The installation that an earlier version left behind, copied for a test and served by this one.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use munshi_test_support::{DatabaseEngine, PATIENCE, environment};
use munshi_types::{Clock, SystemClock};
use serde_json::{Value, json};

use crate::app::support::{Answer, Installation, Running, Speaking};

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/upgrade");

/// The old data under this version's program.
pub(super) struct UpgradedInstallation {
    pub(super) installation: Installation,
    /// What people and programs keep of it: keys, cookies, ids of runs.
    pub(super) people: Value,
    /// What was sent to the webhook of anchors.
    anchors: Arc<Mutex<Vec<Value>>>,
    _model: Speaking,
    _webhook: Speaking,
}

/// The same while it is served.
pub(super) struct UpgradedServer {
    pub(super) upgraded: UpgradedInstallation,
    pub(super) server: Running,
}

pub(super) struct Response {
    pub(super) status: u16,
    pub(super) body: String,
}

impl Response {
    #[track_caller]
    pub(super) fn json(&self) -> Value {
        assert!((200..300).contains(&self.status), "{} {}", self.status, self.body);
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}

impl UpgradedInstallation {
    /// Copies the fixture and moves its times to now. Nothing has migrated it yet.
    pub(super) fn copy(engine: DatabaseEngine) -> Self {
        let read = |name: &str| std::fs::read_to_string(format!("{FIXTURE}/{name}")).unwrap();
        let plans: Value = serde_json::from_str(&read("plans.json")).unwrap();
        let model =
            Speaking::answering(Duration::from_millis(1), move |request| follow_plan(request, &plans));
        let anchors = Arc::<Mutex<Vec<Value>>>::default();
        let told = anchors.clone();
        let webhook = Speaking::answering(Duration::ZERO, move |body| {
            told.lock().unwrap().push(body.clone());
            Answer::words("")
        });
        let installation = Installation::on(engine)
            .with("PATH", environment::path())
            .with("MUNSHI__SERVER__ADDRESS_REQUESTS_PER_MINUTE", "10000")
            .with("MUNSHI__SERVER__KEY_REQUESTS_PER_MINUTE", "10000")
            .with("MUNSHI__MODELS__LOCAL__PROVIDER", "llamacpp")
            .with("MUNSHI__MODELS__LOCAL__MODEL", "small")
            .with("MUNSHI__MODELS__LOCAL__BASE_URL", format!("http://{}/v1", model.address))
            .with("MUNSHI__ROUTES__DEFAULT", "local,offline")
            .with("MUNSHI__AUDIT__ANCHOR_WEBHOOK", format!("http://{}/anchors", webhook.address));
        let name = match engine {
            DatabaseEngine::Sqlite => "sqlite",
            DatabaseEngine::Postgres => "postgres",
        };
        copy_folder(&Path::new(FIXTURE).join(name).join("data"), &installation.data());
        let key = installation.data().join("vault.key");
        std::fs::set_permissions(key, std::fs::Permissions::from_mode(0o600)).unwrap();
        let people: Value = serde_json::from_str(&read(&format!("{name}/people.json"))).unwrap();
        let age = SystemClock.now().as_micros() - people["made_at"].as_i64().unwrap();
        let database = std::fs::File::open(format!("{FIXTURE}/{name}/database.gz")).unwrap();
        let mut bytes = Vec::new();
        GzDecoder::new(database).read_to_end(&mut bytes).unwrap();
        match engine {
            DatabaseEngine::Sqlite => {
                std::fs::write(installation.file(), bytes).unwrap();
                shift_sqlite_times(&installation.file(), age);
            }
            DatabaseEngine::Postgres => {
                let dump = String::from_utf8(bytes).unwrap();
                installation.place.run_as_superuser(&format!("{BECOME_OWNER}\n{dump}"));
                installation.place.run_as_superuser(&SHIFT_POSTGRES_TIMES.replace("AGE", &age.to_string()));
            }
        }
        Self { installation, people, anchors, _model: model, _webhook: webhook }
    }

    pub(super) fn serve(self) -> UpgradedServer {
        let server = self.installation.serve();
        UpgradedServer { upgraded: self, server }
    }

    /// A command for the shop.
    pub(super) fn shop_json(&self, arguments: &[&str]) -> Value {
        self.installation.json(&[arguments, &["--tenant", "kirana"]].concat())
    }

    /// Every entry of the shop's books in a few words, sorted. Each stands there as often as it was booked.
    pub(super) fn entries(&self) -> Vec<String> {
        let folder = self.installation.folder().join("books");
        self.shop_json(&["ledger", "export", &folder.display().to_string(), "--replace"]);
        let text = std::fs::read_to_string(folder.join("entries.csv")).unwrap();
        let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let header = lines.next().unwrap();
        let place = |name: &str| header.iter().position(|column| *column == name).unwrap();
        let columns = ["kind", "amount", "contact", "category", "item", "quantity"].map(place);
        // What somebody said may go over several lines; it comes after these columns.
        let is_entry = |line: &Vec<&str>| line.len() > columns[5] && line[0].parse::<u32>().is_ok();
        let mut entries: Vec<String> = lines
            .filter(is_entry)
            .map(|line| {
                let words = columns.map(|column| line[column]).into_iter().filter(|word| !word.is_empty());
                words.collect::<Vec<_>>().join(" ")
            })
            .collect();
        entries.sort();
        entries
    }

    pub(super) fn count_anchors_sent(&self) -> usize {
        self.anchors.lock().unwrap().iter().filter(|body| body["anchors"].is_array()).count()
    }

    pub(super) fn key(&self, name: &str) -> &str {
        self.people["keys"][name].as_str().unwrap()
    }

    pub(super) fn run_id(&self, name: &str) -> &str {
        self.people["runs"][name].as_str().unwrap()
    }

    /// What the connector's program was asked to do, the oldest first: from the old process and from this one.
    pub(super) fn calls_elsewhere(&self, tool: &str) -> Vec<Value> {
        let text = std::fs::read_to_string(self.connector_home().join("done.jsonl")).unwrap();
        let calls = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        calls.filter(|call| call["tool"] == tool).collect()
    }

    fn connector_home(&self) -> PathBuf {
        let folders = std::fs::read_dir(self.installation.data().join("connectors")).unwrap();
        folders.map(|folder| folder.unwrap().path().join("post")).find(|home| home.exists()).unwrap()
    }
}

impl UpgradedServer {
    /// Any request; headers end in `\r\n` each.
    pub(super) fn send(&self, line: &str, headers: &str, body: Option<&Value>) -> Response {
        let address = self.server.address;
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let body = body.map(ToString::to_string).unwrap_or_default();
        let kind = if body.is_empty() || headers.contains("content-type") {
            ""
        } else {
            "content-type: application/json\r\n"
        };
        write!(
            stream,
            "{line} HTTP/1.1\r\nhost: {address}\r\norigin: http://{address}\r\n{headers}{kind}connection: close\r\n\
             content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        read_response(stream)
    }

    pub(super) fn post_form(&self, path: &str, form: &str) -> Response {
        let address = self.server.address;
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: {address}\r\norigin: http://{address}\r\nconnection: close\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
            form.len()
        )
        .unwrap();
        read_response(stream)
    }

    /// A request with somebody's key.
    pub(super) fn send_as(&self, name: &str, line: &str, body: Option<&Value>) -> Response {
        let headers =
            format!("authorization: Bearer {}\r\naccept: application/json\r\n", self.upgraded.key(name));
        self.send(line, &headers, body)
    }

    pub(super) fn chat(&self, name: &str, binding: &str, text: &str) -> Value {
        self.send_as(name, "POST /v1/chat", Some(&json!({ "binding": binding, "text": text }))).json()
    }

    /// Waits until the run is in this state; gives the run.
    pub(super) fn until_run(&self, name: &str, run: &str, state: &str) -> Value {
        let began = Instant::now();
        loop {
            let shown = self.send_as(name, &format!("GET /v1/runs/{run}"), None).json();
            if shown["state"] == state {
                return shown;
            }
            assert!(began.elapsed() < PATIENCE, "{name} is not {state}: {shown:#}\n{}", self.server.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What waits for an answer and was asked by this person, by the tool that it is about.
    pub(super) fn open_questions(&self, asked_by: &str) -> Vec<Value> {
        let listed = self.upgraded.shop_json(&["approvals", "list", "--limit", "100"]);
        let items = listed["items"].as_array().unwrap().iter();
        items
            .filter(|item| item["asked_by_name"] == asked_by && item["state"] == "pending")
            .cloned()
            .collect()
    }

    /// Waits until exactly one question of this person is open, about this tool; gives it.
    #[track_caller]
    pub(super) fn until_asked(&self, asked_by: &str, tool: &str) -> Value {
        let began = Instant::now();
        loop {
            if let [question] = &self.open_questions(asked_by)[..]
                && question["tool"] == tool
            {
                return question.clone();
            }
            assert!(began.elapsed() < PATIENCE, "{asked_by}: {:?}", self.open_questions(asked_by));
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// The question that follows another.
    #[track_caller]
    pub(super) fn until_asked_after(&self, earlier: &Value, asked_by: &str) -> Value {
        let began = Instant::now();
        loop {
            let mut open = self.open_questions(asked_by);
            if let Some(question) = open.pop().filter(|question| question["id"] != earlier["id"]) {
                return question;
            }
            assert!(began.elapsed() < PATIENCE, "{asked_by} is asked nothing more");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Says yes, as the owner does in the console.
    pub(super) fn grant(&self, question: &Value) {
        let path = format!("POST /v1/approvals/{}/grant", question["id"].as_str().unwrap());
        self.send_as("asha", &path, Some(&json!({ "digest": question["digest"] }))).json();
    }

    /// Says yes at the terminal, where whoever has the machine answers for the owner.
    pub(super) fn grant_at_terminal(&self, question: &Value) {
        let id = question["id"].as_str().unwrap();
        self.upgraded.shop_json(&["approvals", "grant", id, "--as", "Asha"]);
    }

    /// What stands in the session of a run, the oldest first.
    pub(super) fn texts(&self, name: &str, run: &str) -> Vec<String> {
        let shown = self.send_as(name, &format!("GET /v1/runs/{run}"), None).json();
        let path = format!("GET /v1/sessions/{}/messages?limit=100", shown["session"].as_str().unwrap());
        let listed = self.send_as(name, &path, None).json();
        let mut items = listed["items"].as_array().unwrap().clone();
        items.sort_by_key(|item| item["number"].as_i64());
        items.iter().map(|item| item["text"].as_str().unwrap().to_owned()).collect()
    }
}

fn read_response(mut stream: TcpStream) -> Response {
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Response { status, body: body.to_owned() }
}

/// The model that the old process talked to, except that it never falls silent. It goes by the last message of a person
/// and by how many calls were answered since, so it says the same in every process.
fn follow_plan(request: &Value, plans: &Value) -> Answer {
    let messages = request["messages"].as_array().unwrap();
    let last = messages.iter().rposition(|one| one["role"] == "user").unwrap();
    let text = match &messages[last]["content"] {
        Value::String(text) => text.clone(),
        parts => parts.as_array().unwrap().iter().filter_map(|part| part["text"].as_str()).collect(),
    };
    if request["tools"].as_array().is_none_or(Vec::is_empty) {
        return Answer::words("They talked about the shop.");
    }
    let Some((_, plan)) = text.split_once("Please: ") else {
        return Answer::words("We open at nine. Come soon.");
    };
    let mut plan = plan.split('.').next().unwrap().split(", ").filter(|word| *word != "wait");
    let answered = messages[last..].iter().filter(|one| one["role"] == "tool").count();
    match plan.nth(answered) {
        Some(word) => {
            let step = &plans[word];
            Answer::call(step["tool"].as_str().unwrap(), step["arguments"].clone())
        }
        None => Answer::words("That is all of it."),
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Approvals and sign-ins expire by the clock, and the program has no other. So the times in the copy are moved by the
/// fixture's age. Audit and books stay as they are, for nobody can change them; leases and schedules are long over.
fn shift_sqlite_times(file: &Path, age: i64) {
    let database = rusqlite::Connection::open(file).unwrap();
    let mut query = database
        .prepare(
            "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
             WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND t.name NOT LIKE 'audit%'
               AND t.name NOT LIKE 'ledger%' AND t.name <> 'job_schedules' AND c.name <> 'lease_until'",
        )
        .unwrap();
    let columns = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    let columns: Vec<(String, String)> = columns.map(Result::unwrap).collect();
    for (table, column) in columns {
        let shift = SHIFT_SQLITE_TIMES.replace("a_table", &table).replace("a_column", &column);
        database.execute(&shift, [age]).unwrap();
    }
}

/// Micros of this century; no amount and no number is so large.
const SHIFT_SQLITE_TIMES: &str = "UPDATE a_table SET a_column = a_column + ?1
  WHERE typeof(a_column) = 'integer' AND a_column BETWEEN 1500000000000000 AND 2500000000000000";

/// The login that owns the test's database, and the role that the dump gives rights to. Another test may be making it.
const BECOME_OWNER: &str = "SET ROLE munshi_owner;
DO $$ BEGIN
  CREATE ROLE munshi_app NOLOGIN NOSUPERUSER NOBYPASSRLS;
EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
END $$;";

const SHIFT_POSTGRES_TIMES: &str = "DO $$
DECLARE place record;
BEGIN
  FOR place IN SELECT c.table_name, c.column_name FROM information_schema.columns c
      JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
      WHERE c.table_schema = 'public' AND t.table_type = 'BASE TABLE' AND c.data_type = 'timestamp with time zone'
        AND c.table_name NOT LIKE 'audit%' AND c.table_name NOT LIKE 'ledger%' AND c.table_name <> 'job_schedules'
        AND c.column_name <> 'lease_until'
  LOOP
    EXECUTE format('UPDATE %I SET %I = %I + $1', place.table_name, place.column_name, place.column_name)
      USING interval 'AGE microseconds';
  END LOOP;
END $$;";
