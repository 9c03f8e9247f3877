import { useState } from "preact/hooks";
import { RefusalText } from "../../shared/components/answer-view.tsx";
import { StackedBar } from "../../shared/charts/stacked-bar.tsx";
import { TimeText } from "../../shared/components/foreign-text.tsx";
import { showMoney } from "../../shared/format/show-amount.ts";
import type { BodyOf, PageAnswer } from "../../shared/relay/call-relay.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { formatHashRoute } from "../../shared/routing/hash-route.ts";

/** Whether the books balance, according to the relay's last check or one that the user starts. */
export function BooksBox({ overview }: { overview: BodyOf<"getOverview"> }) {
  const { relay } = usePageContext();
  const [answer, setAnswer] = useState<PageAnswer<BodyOf<"reconcile">> | undefined>();
  const [isRunning, setRunning] = useState(false);
  const check = async () => {
    setRunning(true);
    setAnswer(await relay.call("reconcile", {}));
    setRunning(false);
  };
  return (
    <section class="box">
      <h2>Books</h2>
      <p>
        <BooksVerdict overview={overview} answer={answer} />{" "}
        <button type="button" class="small" disabled={isRunning} onClick={() => void check()}>
          Check now
        </button>
      </p>
      {answer?.ok === false && <RefusalText refusal={answer} />}
      <MoneyBar money={overview.money} />
      <p class="hint">
        <a href={formatHashRoute(["money", "books"])}>Show each check</a>
      </p>
    </section>
  );
}

function BooksVerdict({
  overview: { books },
  answer,
}: {
  overview: BodyOf<"getOverview">;
  answer: PageAnswer<BodyOf<"reconcile">> | undefined;
}) {
  if (answer?.ok === true) {
    const { consistent, checks } = answer.body;
    return consistent ? (
      <strong class="good">✓ Balanced now: all {checks.length} checks hold.</strong>
    ) : (
      <strong class="bad">
        ✗ {checks.filter(({ ok }) => !ok).length} of {checks.length} checks fail.
      </strong>
    );
  }
  if (books === null) return <>Not checked yet.</>;
  return books.consistent ? (
    <strong class="good">
      ✓ Balanced at <TimeText at={books.at} />
    </strong>
  ) : (
    <strong class="bad">
      ✗ Not balanced at <TimeText at={books.at} />
    </strong>
  );
}

/** Shows where the deposited money is now. */
function MoneyBar({ money }: Pick<BodyOf<"getOverview">, "money">) {
  const { balances, held, inspected, pending_withdrawals, fees_total } = money;
  const parts = [
    { label: "balances", value: balances },
    { label: "held", value: held },
    { label: "under inspection", value: inspected },
    { label: "to be paid out", value: pending_withdrawals },
    { label: "fees", value: fees_total },
  ].map((part) => ({ ...part, text: showMoney(part.value) }));
  return <StackedBar parts={parts} label="Where the money is" />;
}
