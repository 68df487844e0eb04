//! What waited for a person.

use serde_json::{Value, json};

use super::fixture::UpgradedServer;

/// The words of a connector or of a program are in these runs and conversations, so what they write is asked for, and for
/// no other reason.
pub(super) fn is_still_asked_where_others_words_were_read(served: &UpgradedServer) {
    let (upgraded, before) = (&served.upgraded, served.upgraded.entries());
    let foreign = |question: &Value, item: &str| {
        assert_eq!(question["question"]["reasons"], json!(["foreign"]), "{question}");
        let shown = upgraded.shop_json(&["approvals", "show", question["id"].as_str().unwrap()]);
        assert_eq!(shown["arguments"]["item"], item, "{shown}");
    };
    // Killed after it had read a letter.
    let of_uma = served.until_asked("Uma", "log_expense");
    foreign(&of_uma, "ink");
    // Paused with its first write: the second is asked for, too.
    let first = served.until_asked("Tara", "log_expense");
    foreign(&first, "tea");
    served.grant(&first);
    let second = served.until_asked_after(&first, "Tara");
    foreign(&second, "rent");
    // The same where a program spoke.
    let first = served.until_asked("Rohan", "log_expense");
    foreign(&first, "rope");
    served.grant_at_terminal(&first);
    let of_rohan = served.until_asked_after(&first, "Rohan");
    foreign(&of_rohan, "paint");
    // Conversations in which a letter was read in an earlier turn, told as it was or in a summary.
    for (name, text) in
        [("nila", "Please: seventh. It was 107 rupees."), ("suma", "Please: eighth. It was 118 rupees.")]
    {
        let told = served.chat(name, "desk", text);
        assert_eq!(told["state"], "waiting_approval", "{told}");
    }
    let (of_nila, of_suma) =
        (served.until_asked("Nila", "log_expense"), served.until_asked("Suma", "log_expense"));
    foreign(&of_nila, "milk");
    foreign(&of_suma, "oil");
    assert_eq!(upgraded.entries().len(), before.len() + 2, "what was agreed to and nothing else");
    for question in [of_uma, second, of_rohan, of_nila, of_suma] {
        served.grant_at_terminal(&question);
    }
    for name in ["uma", "tara", "rohan"] {
        served.until_run(name, upgraded.run_id(name), "done");
    }
}

pub(super) fn is_done_once_after_a_yes(served: &UpgradedServer) {
    let upgraded = &served.upgraded;
    let question = served.until_asked("Chitra", "stock_in");
    assert_eq!(question["question"]["reasons"], json!(["policy"]), "{question}");
    served.grant(&question);
    served.until_run("chitra", upgraded.run_id("chitra"), "done");
}

/// A bare yes, the number of a choice and the amount that was asked for: each answers what the old version had asked.
pub(super) fn is_answered_in_the_conversation(served: &UpgradedServer) {
    for (name, text) in [("asha", "haan"), ("bina", "1"), ("jaya", "40"), ("hari", "haan")] {
        let told = served.chat(name, "counter", text);
        assert_eq!(told["state"], "done", "{name}: {told}");
    }
}

/// A program that was handed a call of its own tool brings the result: the letter that was read before is not read again,
/// and still counts.
pub(super) fn takes_a_clients_result(served: &UpgradedServer) {
    let handed = &served.upgraded.people["handed"];
    let mut request = handed["request"].clone();
    let messages = request["messages"].as_array_mut().unwrap();
    messages.push(handed["message"].clone());
    let call = &handed["message"]["tool_calls"][0]["id"];
    messages.push(json!({ "role": "tool", "tool_call_id": call, "content": "Sunny." }));
    let told = served.send_as("wasim", "POST /v1/chat/completions", Some(&request)).json();
    let question = served.until_asked("Wasim", "log_expense");
    assert_eq!(question["question"]["reasons"], json!(["foreign"]), "{told}");
    let letters = served.upgraded.calls_elsewhere("letter");
    assert_eq!(letters.len(), 5, "{letters:?}");
    served.grant_at_terminal(&question);
}
