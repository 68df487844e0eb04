use crate::kinds::{
    CountKind, DollarsKind, OptionalDollarsKind, OptionalTextKind, RupeesKind, SecondsKind, TokenPriceKind,
    choice,
};
use crate::section::section;

choice! {
    /// What a tenant has agreed to: how many interactions a month, and which models.
    TenantPlan {
        /// 50 interactions a month, small models.
        Free = "free",
        /// 500, small and medium ones.
        Starter = "starter",
        /// 5,000, small to large ones.
        Pro = "pro",
        /// As many as one likes, on any model.
        Business = "business",
    }
}

section! {
    /// What may be spent. Of all limits the strictest wins; `munshi usage` shows how they stand, and sets a tenant's own.
    /// docs/budgets.md explains them. Days and months are those of the tenant's zone.
    BudgetSection in "budget" {
        /// The plan of tenants that have none of their own. Whoever runs Munshi on their own keys needs no other than
        /// this one; who sells it sets `free` here and gives the others by `munshi usage plan`.
        plan: TenantPlan = "business",
        /// What a tenant may spend in a month on each plan. No plan is without a ceiling.
        free_money_per_month: DollarsKind = 1,
        /// The same for `starter`.
        starter_money_per_month: DollarsKind = 10,
        /// The same for `pro`.
        pro_money_per_month: DollarsKind = 100,
        /// The same for `business`, however unlimited its interactions are.
        business_money_per_month: DollarsKind = 1000,
        /// What a tenant may spend in a day, whatever its plan.
        tenant_money_per_day: OptionalDollarsKind = 50,
        /// What may be spent through one binding in a day.
        binding_money_per_day: OptionalDollarsKind = "",
        /// What one person may spend in a day.
        person_money_per_day: OptionalDollarsKind = 10,
        /// How many messages of one person are answered in a day; 0 is no limit.
        person_interactions_per_day: CountKind<0, 1_000_000> = 0,
        /// What a tenant's background work may spend in a day: heartbeats, learning, the steps of delegated jobs. It has
        /// this pocket and no other, so that people always have theirs.
        background_money_per_day: DollarsKind = 2,
        /// The same in a month; never more than the plan has for people.
        background_money_per_month: DollarsKind = 30,
        /// What a million tokens of a model count as whose price nobody knows, in dollars. Better give it a price of its
        /// own in [models.NAME].
        unknown_price: TokenPriceKind = 30,
        /// Rupees for a dollar, by which tools that cost rupees count under the same ceilings. A figure below the true
        /// one lets them count for more.
        rupees_per_dollar: RupeesKind = 85,
        /// When that was looked up; for you.
        rupees_per_dollar_as_of: OptionalTextKind = "",
        /// What one run may use of tokens before it stops and says so.
        run_tokens: CountKind<1_000, 100_000_000> = 50000,
        /// The same in dollars.
        run_money: DollarsKind = "0.50",
        /// The same in turns of its loop.
        run_iterations: CountKind<1, 1_000> = 20,
        /// The same in time.
        run_time ("run_seconds"): SecondsKind<1, 86_400> = 600,
        /// How long something stays set aside that nobody settles; longer than any call takes.
        hold ("hold_seconds"): SecondsKind<60, 86_400> = 900,
        /// How many days back the books are kept day by day, and by person; months are kept for good.
        keep_days: CountKind<1, 36_500> = 400,
    }
}
