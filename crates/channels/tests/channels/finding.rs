//! Which account a message leaves by.

use munshi_channels::accounts::{ChannelAccount, ChannelAccountKind, ChannelAccounts};
use munshi_conversations::outbox::{SendRetryability, SenderDirectory, SenderRoute};
use munshi_test_support::on_both_engines;
use munshi_types::BindingId;
use munshi_types::tier::Channel;

use super::support::{migrations, open_shop};

on_both_engines! {
    with all migrations();

    async fn the_account_that_is_meant_is_found(test: TestDb) {
        let shop = open_shop(test).await;
        let counter = shop.add_binding("counter").await;
        let other = shop.add_binding("other").await;
        let file = [
            shop.plain("counter", "bindings = [\"counter\"]"),
            shop.plain("shop", ""),
            shop.plain("wholesale", ""),
            "[all]\nkind = \"log\"\n".to_owned(),
        ];
        shop.declare(&file.join("\n")).await;
        let find = async |binding: Option<BindingId>, from: Option<&str>| {
            shop.find(binding, from).await.unwrap().account().map(str::to_owned).unwrap()
        };
        assert_eq!(find(Some(counter), None).await, "counter");
        assert_eq!(find(Some(other), None).await, "shop", "the first that is for all");
        assert_eq!(find(None, None).await, "shop", "what the tenant itself says");
        assert_eq!(find(Some(other), Some("Wholesale@example.com")).await, "wholesale");
        assert_eq!(find(Some(other), Some("counter@example.com")).await, "shop", "another binding's stays its own");
        assert_eq!(find(Some(other), Some("gone@example.com")).await, "shop");
        let route = SenderRoute { tenant: shop.tenant, binding: None, channel: Channel::Whatsapp, from: None, account: None };
        assert_eq!(shop.senders.find(&route).await.unwrap().account(), Some("all"), "a log shows what nothing sends");
    }

    async fn what_can_not_leave_by_a_broken_account_is_in_no_log(test: TestDb) {
        let shop = open_shop(test).await;
        // As an older version stored what a newer one refuses.
        let mut declared = shop.declare("[all]\nkind = \"log\"\n").await;
        declared.0.insert("mail".parse().unwrap(), ChannelAccount::new(ChannelAccountKind::Email));
        shop.store(&declared).await;
        let fault = shop.find(None, None).await.err().unwrap();
        assert_eq!(fault.retryable, SendRetryability::Yes, "somebody mends it");
        assert!(fault.why.contains("mail can't work") && fault.why.contains("set host"), "{fault:?}");
        let works = shop.declare(&format!("[all]\nkind = \"log\"\n{}", shop.plain("shop", ""))).await;
        let broken = ("mail".parse().unwrap(), ChannelAccount::new(ChannelAccountKind::Email));
        let both = ChannelAccounts(works.0.into_iter().chain([broken]).collect());
        shop.store(&both).await;
        assert_eq!(shop.find(None, None).await.unwrap().account(), Some("shop"), "one that works is taken");
    }

    async fn a_changed_file_begins_nothing_anew_that_it_says_as_before(test: TestDb) {
        let shop = open_shop(test).await;
        let mail = shop.plain("mail", "per_minute = 1");
        shop.declare(&mail).await;
        let send = async || {
            let outbound = shop.message(&shop.address("meera"), "x");
            shop.find(None, None).await.unwrap().send(&outbound).await
        };
        assert!(send().await.is_ok() && send().await.is_err());
        shop.declare(&format!("{mail}\n{}", shop.plain("other", "bindings = [\"counter\"]"))).await;
        assert!(send().await.is_err(), "it has sent what it may in this minute");
        shop.declare(&shop.plain("mail", "per_minute = 2")).await;
        assert!(send().await.is_ok(), "an account that was changed is another");
    }

    async fn what_can_leave_is_known_by_one_look(test: TestDb) {
        let shop = open_shop(test).await;
        let (counter, other) = (shop.add_binding("counter").await, shop.add_binding("other").await);
        let list = async |binding: BindingId| {
            shop.senders.list_served(shop.tenant, binding, &[Channel::Whatsapp, Channel::Email]).await
        };
        assert!(list(counter).await.is_empty());
        shop.declare(&shop.plain("mail", "bindings = [\"counter\"]")).await;
        assert_eq!((list(counter).await, list(other).await), (vec![Channel::Email], Vec::new()));
        shop.declare("[all]\nkind = \"log\"\n").await;
        assert_eq!(list(other).await, [Channel::Whatsapp, Channel::Email]);
        assert!(shop.senders.list_served(shop.tenant, other, &[]).await.is_empty());
    }

    async fn where_there_is_none_that_may_pass(test: TestDb) {
        let shop = open_shop(test).await;
        let other = shop.add_binding("other").await;
        let fault = shop.find(Some(other), None).await.err().unwrap();
        assert_eq!(fault.retryable, SendRetryability::Yes);
        assert!(fault.why.contains("no channel for email is set up"), "{fault:?}");
        shop.declare(&shop.plain("mail", "bindings = [\"counter\"]")).await;
        let fault = shop.find(Some(other), None).await.err().unwrap();
        assert!(fault.why.contains("open to this binding"), "{fault:?}");
        shop.declare(&shop.plain("mail", "bindings = [\"other\"]")).await;
        assert!(shop.find(Some(other), None).await.is_ok(), "a changed file counts at once");
        let stranger = shop.test.add_tenant("verma").await;
        let route = SenderRoute { tenant: stranger, binding: None, channel: Channel::Email, from: None, account: None };
        assert!(shop.senders.find(&route).await.is_err(), "another tenant has none of it");
    }
}
