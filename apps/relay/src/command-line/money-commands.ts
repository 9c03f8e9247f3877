import {
  formatDuration,
  formatMoney,
  formatTime,
  MONEY_RULE,
  parseDuration,
  parseMoney,
  parseTime,
  toStateCell,
} from "./format-values.ts";
import {
  usageFault,
  type CommandCall,
  type CommandResult,
  type OperatorCommand,
} from "./operator-command.ts";
import type { Block, Cell } from "./format-blocks.ts";
import { buildListOutput, listMore, omitMissing, readPageQuery, PAGE_USAGE } from "./page-query.ts";
import { refuseUnknownId } from "./refuse-unknown-id.ts";

/** The commands about money. */
export const moneyCommands = {
  accounts: {
    usage: `accounts [--sort balance|held] [--all] ${PAGE_USAGE}`,
    purpose: "list the accounts that hold money; --all also shows empty ones",
    run: listAccounts,
  },
  holds: {
    usage: `holds [--older-than 1h] ${PAGE_USAGE}`,
    purpose: "list holds with their task, payer and time, oldest first",
    run: listHolds,
  },
  statement: {
    usage:
      "statement ID [--from TIME] [--to TIME] [--cursor C] | statement ID --csv [--from TIME] [--to TIME]",
    purpose: "list the movements of one account, with its opening and closing balance",
    run: showStatement,
  },
  deposit: {
    usage: "deposit ID AMOUNT --reference R [--description TEXT]",
    purpose: "credit an account, once per reference",
    run: deposit,
  },
  withdrawals: {
    usage:
      `withdrawals [--state pending] [--sort amount] ${PAGE_USAGE} | ` +
      "withdrawals complete ID --payout-reference R | withdrawals fail ID --reason R",
    purpose: "list withdrawals, or record that one was paid out or why it failed",
    run: (call) => (call.args.length === 0 ? listWithdrawals(call) : resolveWithdrawal(call)),
  },
} as const satisfies Record<string, OperatorCommand>;

async function listAccounts(call: CommandCall): Promise<CommandResult> {
  const { sort, all } = call.options;
  const query = {
    ...readPageQuery(call),
    ...omitMissing({ sort }),
    ...(all !== true && { nonzero: "1" }),
  };
  const answer = await call.client.listAccounts({ query: query as object });
  if (!answer.ok) return answer;
  const { accounts } = answer.body;
  const rows = accounts.map((account) => [
    account.agent_id,
    account.agent_known ? "" : { text: "no such agent", tone: "bad" as const },
    formatMoney(account.balance),
    formatMoney(account.held),
    formatMoney(account.pending_withdrawals),
    formatTime(account.last_at),
  ]);
  const columns = [
    { title: "account", isId: true },
    { title: "owner", isFlexible: true },
    { title: "balance", align: "right" },
    { title: "held", align: "right" },
    { title: "to be paid out", align: "right" },
    { title: "last movement" },
  ] as const;
  return buildListOutput(answer.body, { columns, rows, empty: "no account holds money" });
}

async function listHolds(call: CommandCall): Promise<CommandResult> {
  const { "older-than": text } = call.options;
  const age = text === undefined ? undefined : parseDuration(text);
  if (text !== undefined && age === undefined) {
    return usageFault("--older-than is a duration such as 90s, 15m, 2h or 1d");
  }
  const query = { ...readPageQuery(call), ...omitMissing({ older_than: age }) };
  const answer = await call.client.listHolds({ query });
  if (!answer.ok) return answer;
  const { holds } = answer.body;
  const now = call.now();
  const rows = holds.map((hold) => [
    hold.task_id,
    hold.payer_id,
    formatMoney(hold.amount),
    formatDuration(now - hold.since),
    hold.until === null ? "-" : formatDuration(Math.max(0, hold.until - now)),
    hold.state,
  ]);
  const columns = [
    { title: "task", isId: true },
    { title: "payer", isId: true },
    { title: "amount", align: "right" },
    { title: "since", align: "right" },
    { title: "ends in", align: "right" },
    { title: "state" },
  ] as const;
  return buildListOutput(answer.body, { columns, rows, empty: "nothing is held" });
}

async function showStatement(call: CommandCall): Promise<CommandResult> {
  const [agentId = ""] = call.args;
  const { from, to, cursor, csv } = call.options;
  const now = call.now();
  const [start, end] = [from, to].map((text) =>
    text === undefined ? undefined : parseTime(text, now),
  );
  if ((from !== undefined && start === undefined) || (to !== undefined && end === undefined)) {
    return usageFault("--from and --to are times: 2h (ago) or 2026-01-31T10:00:00Z");
  }
  const unknown = await refuseUnknownId(call.client, agentId);
  if (unknown !== undefined) return unknown;
  const format = csv === true ? "csv" : "json";
  const query = { ...omitMissing({ from: start, to: end, cursor }), format } as const;
  const answer = await call.client.getStatement({ params: { agentId }, query });
  if (!answer.ok) return answer;
  const { body } = answer;
  if (typeof body === "string") return { ok: true, body, blocks: [], raw: body };
  const rows = body.transactions.map((row) => [
    formatTime(row.created_at),
    row.type,
    formatMoney(row.amount),
    formatMoney(row.balance_after),
    row.reference_id ?? "",
    row.description ?? "",
  ]);
  const columns = [
    { title: "when" },
    { title: "type" },
    { title: "amount", align: "right" },
    { title: "balance", align: "right" },
    { title: "reference", isFlexible: true },
    { title: "description", isFlexible: true },
  ] as const;
  return {
    ok: true,
    body,
    blocks: [
      `opening balance ${formatMoney(body.opening_balance)}`,
      { columns, rows, empty: `no money moved on the account of ${agentId} in this time` },
      `closing balance ${formatMoney(body.closing_balance)}`,
      ...listMore(body.next_cursor),
    ],
  };
}

async function deposit(call: CommandCall): Promise<CommandResult> {
  const [agentId = "", text] = call.args;
  const amount = parseMoney(text);
  const { reference = "", description } = call.options;
  if (amount === undefined) return usageFault(`AMOUNT ${text} ${MONEY_RULE}`);
  const body = { amount, reference, ...omitMissing({ description }) };
  const answer = await call.client.deposit({ params: { agentId }, body });
  if (!answer.ok) return answer;
  const { idempotent, agent_known: isKnown = true } = answer.body;
  const blocks: Block[] = [
    idempotent
      ? `nothing was credited: ${reference} was credited to ${agentId} before`
      : `${formatMoney(amount)} for ${agentId}, paid as ${reference}`,
  ];
  if (!isKnown) {
    const text = `no agent has the id ${agentId} yet; the money will belong to the agent that binds it`;
    blocks.push({ text: `! ${text}`, tone: "bad" });
  }
  return { ok: true, body: answer.body, blocks };
}

async function listWithdrawals(call: CommandCall): Promise<CommandResult> {
  const { state: status, sort } = call.options;
  const query = { ...readPageQuery(call), ...omitMissing({ status, sort }) };
  const answer = await call.client.listAllWithdrawals({ query: query as object });
  if (!answer.ok) return answer;
  const { withdrawals } = answer.body;
  const rows = withdrawals.map((withdrawal) => [
    withdrawal.withdrawal_id,
    withdrawal.agent_id,
    formatMoney(withdrawal.amount),
    withdrawal.destination,
    toStateCell(withdrawal.status),
    formatDebt(withdrawal.account_owes),
    formatTime(withdrawal.created_at),
    formatRevocation(withdrawal.agent_revoked_at),
  ]);
  const columns = [
    { title: "withdrawal", isId: true },
    { title: "agent", isId: true },
    { title: "amount", align: "right" },
    { title: "destination", isFlexible: true },
    { title: "state" },
    { title: "account owes", align: "right" },
    { title: "requested" },
    { title: "agent revoked" },
  ] as const;
  return buildListOutput(answer.body, { columns, rows, empty: "no withdrawals" });
}

function formatDebt(owed = 0): Cell {
  return owed === 0 ? "-" : { text: formatMoney(owed), tone: "bad" };
}

function formatRevocation(revokedAt: number | null = null): Cell {
  return revokedAt === null ? "-" : { text: formatTime(revokedAt), tone: "bad" };
}

async function resolveWithdrawal({ client, args, options }: CommandCall): Promise<CommandResult> {
  const [act, withdrawalId = ""] = args;
  const { "payout-reference": payout_reference = "", reason = "" } = options;
  const params = { withdrawalId };
  if (act === "complete") {
    const answer = await client.completeWithdrawal({ params, body: { payout_reference } });
    if (!answer.ok) return answer;
    return { ok: true, body: answer.body, blocks: [`${withdrawalId} is completed`] };
  }
  const answer = await client.failWithdrawal({ params, body: { reason } });
  if (!answer.ok) return answer;
  const blocks = [`${withdrawalId} has failed; the money is back`];
  return { ok: true, body: answer.body, blocks };
}
