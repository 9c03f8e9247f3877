import { AnswerView } from "../../shared/components/answer-view.tsx";
import { StackedBar } from "../../shared/charts/stacked-bar.tsx";
import { TimeText } from "../../shared/components/foreign-text.tsx";
import { showMoney, sumMoney } from "../../shared/format/show-amount.ts";
import { showText } from "../../shared/format/show-text.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useAnswer } from "../../shared/relay/use-answer.ts";

type Reconciliation = BodyOf<"reconcile">;

/** Runs every check of the books now and shows each result as a sentence. */
export function BooksReport() {
  const answer = useAnswer("reconcile", {});
  return (
    <>
      <h2>Do the books balance?</h2>
      <AnswerView answer={answer}>
        {({ consistent, checks, totals }) => (
          <>
            <p class={consistent ? "good" : "bad"}>
              <strong>
                {consistent
                  ? `✓ Yes: all ${checks.length} checks hold.`
                  : `✗ No: ${checks.filter(({ ok }) => !ok).length} of ${checks.length} checks fail.`}
              </strong>{" "}
              <TimeText at={answer.at ?? null} />{" "}
              <button type="button" class="small" onClick={answer.reload}>
                Check again
              </button>
            </p>
            <MoneySentence totals={totals} />
            <ul class="checks">
              {checks.map(({ name, ok, detail, ids = [] }) => (
                <li key={name} class={ok ? "holds" : "fails"}>
                  <span class="mark" aria-hidden="true">
                    {ok ? "✓" : "✗"}
                  </span>{" "}
                  <b>{name.replaceAll("_", " ")}</b>
                  {!ok && `: ${showText(detail, 500)}`}
                  {ids.length > 0 && <code> {showText(ids.slice(0, 10).join(", "), 500)}</code>}
                </li>
              ))}
            </ul>
          </>
        )}
      </AnswerView>
    </>
  );
}

/** The equation of the books: all incoming money is in accounts, in holds or in fees, or was paid out. */
function MoneySentence({ totals }: Pick<Reconciliation, "totals">) {
  const { deposits, withdrawals, balances, holds, fees, peers } = totals;
  const parts = [
    { label: "balances", value: balances },
    { label: "held for tasks and withdrawals", value: holds },
    { label: "fees", value: fees },
    { label: "paid out", value: withdrawals },
    { label: "owed to other relays", value: peers },
  ].map((part) => ({ ...part, text: showMoney(part.value) }));
  const sum = sumMoney(parts.map(({ value }) => value));
  return (
    <>
      <p>
        {showMoney(deposits)} was paid in. It is now in these places, which add up to{" "}
        {showMoney(sum)}:
      </p>
      <StackedBar parts={parts} label="Where the deposits are now" />
    </>
  );
}
