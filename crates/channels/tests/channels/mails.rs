//! Mails that arrive in a real mailbox are heard of once, whatever happens to the line and to the mailbox.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;

use futures_util::TryStreamExt;
use munshi_channels::AllowedHosts;
use munshi_channels::incoming::{ArrivedMessage, ChannelHappening};
use munshi_channels::link::{ChannelLink, PolledEvents};
use munshi_test_support::environment::{self, ImapServer};
use munshi_test_support::on_both_engines;

use super::support::{QUICK, Shop, believe_authority, migrations, open_shop, open_shop_with};

/// Somebody else's program at the same mailbox.
struct MailboxKeeper {
    line: BufReader<TcpStream>,
    commands: u32,
}

impl MailboxKeeper {
    fn open(server: &ImapServer, login: &str) -> Self {
        let line = BufReader::new(TcpStream::connect(("127.0.0.1", server.plain_port)).unwrap());
        let mut keeper = Self { line, commands: 0 };
        keeper.read_line();
        keeper.command(&format!("LOGIN {login} {}", server.password));
        keeper
    }

    fn read_line(&mut self) -> String {
        let mut line = String::new();
        assert!(self.line.read_line(&mut line).unwrap() > 0, "the server closed the line");
        line
    }

    fn command(&mut self, words: &str) {
        self.commands += 1;
        let tag = format!("k{}", self.commands);
        self.line.get_mut().write_all(format!("{tag} {words}\r\n").as_bytes()).unwrap();
        self.finish(&tag);
    }

    fn finish(&mut self, tag: &str) {
        loop {
            let line = self.read_line();
            if line.starts_with(tag) {
                assert!(line.contains(" OK"), "{line}");
                return;
            }
        }
    }

    fn append(&mut self, folder: &str, mail: &str) {
        let mail = mail.replace('\n', "\r\n");
        self.commands += 1;
        let tag = format!("k{}", self.commands);
        self.line
            .get_mut()
            .write_all(format!("{tag} APPEND {folder} {{{}}}\r\n", mail.len()).as_bytes())
            .unwrap();
        assert!(self.read_line().starts_with('+'));
        self.line.get_mut().write_all(format!("{mail}\r\n").as_bytes()).unwrap();
        self.finish(&tag);
    }
}

fn mail(number: u32) -> String {
    format!(
        "Authentication-Results: mx.example.com; dkim=pass header.d=example.org\nFrom: Meera <meera@example.org>\n\
         To: shop@example.com\nMessage-ID: <{number}@mail.example.org>\nSubject: Order {number}\n\nBags: {number}\n"
    )
}

/// A shop whose account reads the folder `Shop` of a mailbox that no other test has; by which login.
async fn open_mailbox(test: munshi_test_support::TestDb, more: &str) -> (Shop, ImapServer, String) {
    let server = environment::imap();
    let allowed = AllowedHosts::new(["localhost".to_owned(), "127.0.0.1".to_owned()]);
    let tls = Some(believe_authority(&server.certificate));
    let shop = open_shop_with(test, allowed, tls, QUICK).await;
    let login = shop.name("shop");
    shop.set_secret("vault:imap", &server.password).await;
    let mailbox = format!(
        "imap_host = \"localhost\"\nimap_login = \"{login}\"\nimap_password = \"vault:imap\"\nfolder = \"Shop\"\n\
         auth_server = \"mx.example.com\"\n{more}"
    );
    shop.declare(&shop.plain("mail", &mailbox)).await;
    (shop, server, login)
}

async fn find_link(shop: &Shop) -> Arc<dyn ChannelLink> {
    shop.senders.find_link(shop.tenant, &"mail".parse().unwrap()).await.unwrap().unwrap()
}

fn list_messages(polled: &PolledEvents) -> Vec<&ArrivedMessage> {
    let messages = polled.events.iter().map(|event| match &event.what {
        ChannelHappening::Message(message) => message.as_ref(),
        other => panic!("{other:?}"),
    });
    messages.collect()
}

fn list_ids(polled: &PolledEvents) -> Vec<&str> {
    // Behind the mail's own id stands who sent it.
    let messages = list_messages(polled).into_iter();
    messages.map(|message| message.outside_id.split_once('#').map_or("", |(id, _)| id)).collect()
}

on_both_engines! {
    with all migrations();

    async fn mails_are_heard_of_once_by_whichever_line(test: TestDb) {
        let server = environment::imap();
        let ways = [
            format!("imap_port = {}\n", server.tls_port),
            format!("imap_port = {}\nimap_security = \"starttls\"\n", server.plain_port),
        ];
        let (shop, server, login) = open_mailbox(test, &ways[0]).await;
        let mut keeper = MailboxKeeper::open(&server, &login);
        keeper.command("CREATE Shop");
        keeper.append("Shop", &mail(1));
        let link = find_link(&shop).await;
        let begun = link.poll(None).await.unwrap();
        assert!(begun.events.is_empty(), "what was there before is not answered");

        keeper.append("Shop", &mail(2));
        keeper.append("Shop", &mail(3));
        let heard = link.poll(begun.next.as_deref()).await.unwrap();
        assert_eq!(list_ids(&heard), ["<2@mail.example.org>", "<3@mail.example.org>"]);
        let [second, _] = list_messages(&heard)[..] else { panic!("{heard:?}") };
        assert_eq!((second.text.as_str(), second.from.email.as_deref()), ("Order 2\n\nBags: 2", Some("meera@example.org")));

        // What was not stored is heard of again, as the same events; and whoever takes over goes on from there.
        let again = link.poll(begun.next.as_deref()).await.unwrap();
        assert_eq!(again, heard);
        let (waited, ()) = tokio::join!(link.poll(heard.next.as_deref()), async { keeper.append("Shop", &mail(4)) });
        assert_eq!(list_ids(waited.as_ref().unwrap()), ["<4@mail.example.org>"]);

        let mailbox = format!(
            "imap_host = \"localhost\"\nimap_login = \"{login}\"\nimap_password = \"vault:imap\"\nfolder = \"Shop\"\n{}",
            ways[1]
        );
        shop.declare(&shop.plain("mail", &mailbox)).await;
        keeper.append("Shop", &mail(5));
        let other = find_link(&shop).await;
        let heard = other.poll(waited.unwrap().next.as_deref()).await.unwrap();
        assert_eq!(list_ids(&heard), ["<5@mail.example.org>"]);
        assert_eq!(list_messages(&heard)[0].from.email, None, "nobody says any more who they are");
    }

    async fn a_mailbox_whose_numbers_begin_anew_is_looked_at_again(test: TestDb) {
        let port = environment::imap().tls_port;
        let (shop, server, login) = open_mailbox(test, &format!("imap_port = {port}\n")).await;
        let mut keeper = MailboxKeeper::open(&server, &login);
        keeper.command("CREATE Shop");
        let link = find_link(&shop).await;
        let begun = link.poll(None).await.unwrap();
        keeper.append("Shop", &mail(1));
        let first = link.poll(begun.next.as_deref()).await.unwrap();
        let (id, validity) = (first.events[0].id.clone(), first.next.clone().unwrap());

        keeper.command("DELETE Shop");
        keeper.command("CREATE Shop");
        keeper.append("Shop", &mail(1));
        keeper.append("Shop", &mail(2));
        let second = link.poll(first.next.as_deref()).await.unwrap();
        assert_eq!(list_ids(&second), ["<1@mail.example.org>", "<2@mail.example.org>"]);
        assert_eq!(second.events[0].id, id, "it is known as the one that was taken");
        assert_ne!(second.next.as_deref().unwrap().split(':').next(), validity.split(':').next());
    }

    async fn files_are_fetched_from_the_mailbox(test: TestDb) {
        let port = environment::imap().tls_port;
        let (shop, server, login) = open_mailbox(test, &format!("imap_port = {port}\n")).await;
        let mut keeper = MailboxKeeper::open(&server, &login);
        keeper.command("CREATE Shop");
        let link = find_link(&shop).await;
        let begun = link.poll(None).await.unwrap();
        let text = "From: meera@example.org\nMessage-ID: <7@mail.example.org>\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n\
                    See the bill\n--b\nContent-Type: application/pdf; name=bill.pdf\nContent-Transfer-Encoding: base64\n\nJVBERg==\n--b--\n";
        keeper.append("Shop", text);
        let heard = link.poll(begun.next.as_deref()).await.unwrap();
        let [file] = &list_messages(&heard)[0].files[..] else { panic!("{heard:?}") };
        let parts: Vec<_> = link.open_file(file).await.unwrap().try_collect().await.unwrap();
        assert_eq!(parts.concat(), b"%PDF");
        keeper.command("SELECT Shop");
        keeper.command("STORE 1 +FLAGS (\\Deleted)");
        keeper.command("EXPUNGE");
        shop.declare(&shop.plain("mail", "per_minute = 9\n")).await;
        let other = shop.senders.find_link(shop.tenant, &"mail".parse().unwrap()).await.unwrap();
        assert!(other.is_none(), "without a mailbox nothing is heard");
    }

    async fn it_is_told_what_is_left_to_do(test: TestDb) {
        let shop = open_shop(test).await;
        shop.set_secret("vault:words", "correct horse battery").await;
        shop.declare(&shop.plain("mail", "secret = \"vault:words\"\n")).await;
        let link = find_link(&shop).await;
        let steps = link.guide();
        assert!(steps.len() == 2 && steps[0].contains("raw MIME") && steps[1].contains("auth_server"), "{steps:?}");
        let word = link.open_path_secret().await.unwrap().unwrap();
        assert!(word.len() == 64 && !steps.concat().contains(&word), "{word}");
        let known = "secret = \"vault:words\"\nauth_server = \"mx.example.com\"\n";
        shop.declare(&shop.plain("mail", known)).await;
        assert_eq!(find_link(&shop).await.guide().len(), 1, "its server says who wrote");
    }

    async fn a_wrong_password_is_told_with_a_pause(test: TestDb) {
        let port = environment::imap().tls_port;
        let (shop, _, _) = open_mailbox(test, &format!("imap_port = {port}\n")).await;
        shop.set_secret("vault:imap", "wrong").await;
        let fault = find_link(&shop).await.poll(None).await.unwrap_err();
        assert!(fault.what.contains("login") && fault.retry_after.is_some(), "{fault:?}");
        assert!(!fault.what.contains("wrong"), "{fault:?}");
    }
}
