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
    /// Spending limits. The strictest limit applies. `munshi usage` shows their state and sets limits per tenant. See
    /// docs/budgets.md. Days and months follow the tenant's time zone.
    BudgetSection in "budget" {
        /// Plan of tenants without one of their own. If you run Munshi on your own API keys, keep the default. If you
        /// sell it, set `free` and assign plans with `munshi usage plan`.
        plan: TenantPlan = "business",
        /// Monthly spending limit of a tenant on the `free` plan. Every plan has a limit.
        free_money_per_month: DollarsKind = 1,
        /// Monthly spending limit on the `starter` plan.
        starter_money_per_month: DollarsKind = 10,
        /// Monthly spending limit on the `pro` plan.
        pro_money_per_month: DollarsKind = 100,
        /// Monthly spending limit on the `business` plan, whose interactions are unlimited.
        business_money_per_month: DollarsKind = 1000,
        /// Daily spending limit of a tenant, on any plan.
        tenant_money_per_day: OptionalDollarsKind = 50,
        /// Daily spending limit of one binding.
        binding_money_per_day: OptionalDollarsKind = "",
        /// Daily spending limit of one person.
        person_money_per_day: OptionalDollarsKind = 10,
        /// Messages of one person that are answered per day; 0 means no limit.
        person_interactions_per_day: CountKind<0, 1_000_000> = 0,
        /// Daily spending limit of a tenant's background work: heartbeats, learning, steps of delegated jobs. This
        /// budget is separate, so background work never uses up the budget of people.
        background_money_per_day: DollarsKind = 2,
        /// Monthly spending limit of background work; capped at the plan's monthly limit.
        background_money_per_month: DollarsKind = 30,
        /// Assumed price per million tokens, in dollars, of a model without a known price. Prefer setting its price in
        /// [models.NAME].
        unknown_price: TokenPriceKind = 30,
        /// Exchange rate, in rupees per dollar, that converts the cost of tools priced in rupees. A rate below the real
        /// one overstates their cost.
        rupees_per_dollar: RupeesKind = 85,
        /// Date of that exchange rate, for your reference only.
        rupees_per_dollar_as_of: OptionalTextKind = "",
        /// Maximum tokens of one run. At the limit the run stops and says so.
        run_tokens: CountKind<1_000, 100_000_000> = 50000,
        /// Maximum cost of one run, in dollars.
        run_money: DollarsKind = "0.50",
        /// Maximum iterations of one run's agent loop.
        run_iterations: CountKind<1, 1_000> = 20,
        /// Maximum duration of one run.
        run_time ("run_seconds"): SecondsKind<1, 86_400> = 600,
        /// Maximum tokens of one background run, together with the runs it starts. Each of those gets an equal share of what is left.
        background_run_tokens: CountKind<1_000, 1_000_000_000> = 200000,
        /// Maximum cost of one background run and the runs it starts, in dollars.
        background_run_money: DollarsKind = 1,
        /// How long an unsettled budget reservation is held. Must be longer than any call takes.
        hold ("hold_seconds"): SecondsKind<60, 86_400> = 900,
        /// Retention of usage records per day and per person, in days. Monthly totals are kept forever.
        keep_days: CountKind<1, 36_500> = 400,
    }
}
