use proptest::prelude::*;

use super::{TextStyle, render, split};

const STYLES: [TextStyle; 5] =
    [TextStyle::Whatsapp, TextStyle::TelegramHtml, TextStyle::Slack, TextStyle::Teams, TextStyle::Plain];

fn assert_rendered(markdown: &str, expected: [&str; 5]) {
    for (style, expected) in STYLES.into_iter().zip(expected) {
        assert_eq!(render(markdown, style), expected, "{style:?} of {markdown}");
    }
}

#[test]
fn marks_are_those_of_each_app() {
    assert_rendered(
        "**नमस्ते** _Meera_ ~~old~~ `A1`",
        [
            "*नमस्ते* _Meera_ ~old~ `A1`",
            "<b>नमस्ते</b> <i>Meera</i> <s>old</s> <code>A1</code>",
            "*नमस्ते* _Meera_ ~old~ `A1`",
            "**नमस्ते** _Meera_ ~~old~~ `A1`",
            "नमस्ते Meera old A1",
        ],
    );
    assert_rendered(
        "## Your **bill**\n- *rice*\n  - 5 kg\n1. pay",
        [
            "*Your bill*\n- _rice_\n  - 5 kg\n1. pay",
            "<b>Your bill</b>\n• <i>rice</i>\n  • 5 kg\n1. pay",
            "*Your bill*\n• _rice_\n  • 5 kg\n1. pay",
            "**Your bill**  \n- _rice_  \n  - 5 kg  \n1. pay",
            "Your bill\n- rice\n  - 5 kg\n1. pay",
        ],
    );
}

#[test]
fn links_can_be_pressed_and_are_never_more_than_links() {
    assert_rendered(
        "Pay [here](https://shop.example/b?x=1&y=2).",
        [
            "Pay here: https://shop.example/b?x=1&y=2.",
            "Pay <a href=\"https://shop.example/b?x=1&amp;y=2\">here</a>.",
            "Pay <https://shop.example/b?x=1&amp;y=2|here>.",
            "Pay [here](https://shop.example/b?x=1&y=2).",
            "Pay here: https://shop.example/b?x=1&y=2.",
        ],
    );
    let bare = "See https://shop.example/a_b_c (or <meera@example.com>).";
    assert_eq!(render(bare, TextStyle::Whatsapp), "See https://shop.example/a_b_c (or meera@example.com).");
    assert_eq!(render("[x](javascript:alert(1))", TextStyle::TelegramHtml), "x: javascript:alert(1)");
    let twice = "[https://a.example](https://a.example)";
    assert_eq!(render(twice, TextStyle::TelegramHtml), "<a href=\"https://a.example\">https://a.example</a>");
}

#[test]
fn words_call_nobody_and_make_no_tag() {
    let text = "<!channel> <at>Meera</at> & <b>";
    assert_eq!(render(text, TextStyle::Slack), "&lt;!channel&gt; &lt;at&gt;Meera&lt;/at&gt; &amp; &lt;b&gt;");
    assert_eq!(render(text, TextStyle::Teams), "&lt;!channel&gt; &lt;at&gt;Meera&lt;/at&gt; &amp; &lt;b&gt;");
    assert_eq!(
        render(text, TextStyle::TelegramHtml),
        "&lt;!channel&gt; &lt;at&gt;Meera&lt;/at&gt; &amp; &lt;b&gt;"
    );
}

#[test]
fn what_only_looks_like_a_mark_stays() {
    for text in ["2*3*4 = 24", "snake_case_name", "5 * 6 * 7", "₹500 ~ ₹600", "a ** b", "*", "[no link] (x)"]
    {
        assert_eq!(render(text, TextStyle::Plain), text);
        assert_eq!(render(text, TextStyle::Whatsapp), text);
    }
    assert_eq!(render(r"\*not bold\*", TextStyle::Plain), "*not bold*");
}

#[test]
fn code_is_shown_as_it_is() {
    let text = "Try:\n```rust\nlet *a* = <b>;\n```\ndone";
    assert_eq!(render(text, TextStyle::Whatsapp), "Try:\n```let *a* = <b>;```\ndone");
    assert_eq!(
        render(text, TextStyle::TelegramHtml),
        "Try:\n<pre><code class=\"language-rust\">let *a* = &lt;b&gt;;</code></pre>\ndone"
    );
    assert_eq!(render(text, TextStyle::Plain), "Try:\nlet *a* = <b>;\ndone");
}

#[test]
fn tables_quotes_and_tasks_are_lines() {
    let table = "| Item | Qty | Rate |\n|---|---:|---|\n| चावल | 5 kg | ₹60 |\n| दाल | 2 kg | |\n\nTotal";
    assert_eq!(
        render(table, TextStyle::Whatsapp),
        "*चावल* · Qty: 5 kg · Rate: ₹60\n*दाल* · Qty: 2 kg\n\nTotal"
    );
    let pair = "|Day|Hours|\n|-|-|\n|சனி|9-6|";
    assert_eq!(render(pair, TextStyle::Plain), "சனி: 9-6");
    let quote = "> one\n> two\n\n- [ ] open\n- [x] done\n---\nend";
    assert_eq!(
        render(quote, TextStyle::TelegramHtml),
        "<blockquote>one\ntwo</blockquote>\n\n• ☐ open\n• ☑ done\n———\nend"
    );
}

#[test]
fn a_short_text_is_one_piece() {
    assert_eq!(split("Namaste", 100), ["Namaste"]);
    assert_eq!(split("\n\n", 100), Vec::<String>::new());
    assert_eq!(split("abcd", 4), ["abcd"]);
}

#[test]
fn paragraphs_go_first_then_sentences_then_words() {
    assert_eq!(
        split("First one.\n\nSecond one.\n\nThird one.", 26),
        ["First one.\n\nSecond one.", "Third one."]
    );
    for (text, pieces) in [
        ("It costs Rs. 500. It is here today. Come.", ["It costs Rs. 500.", "It is here today.", "Come."]),
        ("यह पाँच सौ का है। आज ही मिलेगा॥ आ जाइए।", ["यह पाँच सौ का है।", "आज ही मिलेगा॥", "आ जाइए।"]),
        ("یہ پانچ سو کا ہے۔ آج ہی ملے گا؟ آ جائیں۔", ["یہ پانچ سو کا ہے۔", "آج ہی ملے گا؟", "آ جائیں۔"]),
        ("இது ஐநூறு ரூபாய். இன்று உண்டு! வாங்க.", ["இது ஐநூறு ரூபாய்.", "இன்று உண்டு!", "வாங்க."]),
    ] {
        let most = pieces.iter().map(|piece| piece.chars().count()).max().unwrap() + 1;
        assert_eq!(split(text, most), pieces, "{most}");
    }
    assert_eq!(split("one two three four", 9), ["one two", "three", "four"]);
}

#[test]
fn no_letter_is_cut() {
    use unicode_segmentation::UnicodeSegmentation;
    for word in ["क्षत्रियश्रीज्ञ", "👨‍👩‍👧👨‍👩‍👧👨‍👩‍👧", "க்ஷிகொகெள", "ప్రశ్నక్ర"]
    {
        let text = word.repeat(6);
        let whole: Vec<&str> = text.graphemes(true).collect();
        for most in 8..14 {
            let pieces = split(&text, most);
            let again: Vec<&str> = pieces.iter().flat_map(|piece| piece.graphemes(true)).collect();
            assert_eq!(again, whole, "{most}");
        }
    }
}

#[test]
fn a_link_and_a_mark_stay_whole() {
    let link = "[the bill](https://shop.example/bills/1)";
    let text = format!("{} {link} and **so on** it goes", "word ".repeat(9));
    for most in 90..130 {
        let pieces = split(&text, most);
        assert_eq!(pieces.iter().filter(|piece| piece.contains(link)).count(), 1, "{most}: {pieces:?}");
        assert_eq!(
            pieces.iter().filter(|piece| piece.contains("**so on**")).count(),
            1,
            "{most}: {pieces:?}"
        );
    }
}

#[test]
fn a_block_of_code_moves_or_is_opened_again() {
    let code = "```sh\necho one\necho two\n```";
    let text = format!("Some words to begin with, for a while.\n\n{code}\n\nand an end");
    assert_eq!(split(&text, 50)[1..], [format!("{code}\n\nand an end")]);
    let lines: String = (10..40).map(|n| format!("line {n}\n")).collect();
    let long = format!("```sh\n{lines}```\nend");
    let pieces = split(&long, 60);
    let mut shown = String::new();
    for piece in &pieces {
        assert!(piece.chars().count() <= 60, "{piece}");
        if piece != "end" {
            let inner = piece.strip_prefix("```sh\n").unwrap();
            shown.push_str(inner.split("\n```").next().unwrap());
            shown.push('\n');
        }
    }
    assert_eq!(shown, lines);
}

fn texts() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "rice",
        "चावल",
        "அரிசி",
        "**bold**",
        "_lean_",
        "`x`",
        "।",
        ".",
        "\n",
        "\n\n",
        "- ",
        "> ",
        "# ",
        "~~",
        "*",
        "_",
        "[a](https://a.example/x)",
        "https://b.example/y_z",
        "```\n",
        "|",
        "|-|",
        "👩‍🌾",
        "<",
        "&",
        "\\",
        "ہے۔",
        "\t",
        "(",
        "]",
    ]);
    prop::collection::vec(word, 0..60).prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn pieces_hold_everything_and_no_more_than_may(text in texts(), most in 1usize..80) {
        let pieces = split(&text, most);
        for piece in &pieces {
            prop_assert!(piece.chars().count() <= most, "{:?}", piece);
            prop_assert!(!piece.trim().is_empty());
        }
        prop_assert_eq!(&pieces, &split(&text, most));
        if !text.contains("```") {
            let bare = |text: &str| text.split_whitespace().collect::<String>();
            prop_assert_eq!(bare(&pieces.concat()), bare(&text));
        }
    }

    #[test]
    fn anything_is_rendered(text in "\\PC{0,200}", most in 1usize..50) {
        for style in STYLES {
            render(&text, style);
        }
        split(&text, most);
    }

    #[test]
    fn tags_of_telegram_are_closed(text in texts()) {
        let html = render(&text, TextStyle::TelegramHtml);
        let mut open = Vec::new();
        for tag in html.split('<').skip(1) {
            let name = tag.split('>').next().unwrap();
            match name.strip_prefix('/') {
                Some(closed) => prop_assert_eq!(open.pop(), Some(closed), "{}", html),
                None => open.push(name.split(' ').next().unwrap()),
            }
        }
        prop_assert!(open.is_empty(), "{}", html);
    }

    #[test]
    fn words_survive_every_style(words in prop::collection::vec("[a-zअ-ह]{1,8}", 1..20)) {
        let text = words.join(" ");
        for style in STYLES {
            prop_assert_eq!(render(&text, style), text.clone());
        }
    }
}
