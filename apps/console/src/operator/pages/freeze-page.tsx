import { ActButton } from "../../shared/components/act-dialog.tsx";
import { AnswerView } from "../../shared/components/answer-view.tsx";
import { TimeText } from "../../shared/components/foreign-text.tsx";
import { ViewTitle } from "../../shared/components/view-title.tsx";
import { showMoney } from "../../shared/format/show-amount.ts";
import { showCount, showText } from "../../shared/format/show-text.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { formatHashRoute } from "../../shared/routing/hash-route.ts";
import { useOverview } from "../console-overview.ts";

/** Shows whether the relay accepts writes and why not, with the button that changes it. */
export function FreezePage() {
  const overview = useOverview();
  return (
    <>
      <ViewTitle title="Freeze" />
      <AnswerView answer={overview}>
        {(body) =>
          body.freeze.frozen ? (
            <FrozenBox overview={body} onDone={overview.reload} />
          ) : (
            <RunningBox overview={body} onDone={overview.reload} />
          )
        }
      </AnswerView>
    </>
  );
}

interface BoxProps {
  readonly overview: BodyOf<"getOverview">;
  readonly onDone: () => void;
}

/** After a restore, a withdrawal that was paid since the backup is still pending. */
const RESTORED =
  " By this you declare that you have checked what the backup lacks: a withdrawal that you paid since then must not be paid again.";

function FrozenBox({ overview: { freeze, open }, onDone }: BoxProps) {
  const { relay } = usePageContext();
  return (
    <section class="box bad-back" data-frozen="true">
      <p class="claim">
        <strong>The relay is frozen.</strong>{" "}
        {showText(freeze.reason ?? "No reason is known.", 500)}
      </p>
      <p>
        Since <TimeText at={freeze.since} />
        {freeze.by !== null && <>, by {showText(freeze.by, 100)}</>}. All writes are refused: no
        task is submitted, claimed or paid, and none expires. {open.count} open{" "}
        {open.count === 1 ? "task waits" : "tasks wait"}.
      </p>
      {freeze.restored && (
        <p>
          The database was restored from a backup, which lacks every payment since it was made.
          Compare the <a href={formatHashRoute(["money", "withdrawals"])}>waiting withdrawals</a>{" "}
          with your bank and the positions of the{" "}
          <a href={formatHashRoute(["federation"])}>peers</a> with their operators first.
        </p>
      )}
      <ActButton
        label="Unfreeze"
        onDone={onDone}
        question={{
          verb: "Unfreeze",
          title: "Accept writes again",
          consequence: `Agents may submit and be paid at once. The frozen time is added to the deadline of ${showCount(open.count, "open task")}.${freeze.restored ? RESTORED : ""}`,
          ...(freeze.restored && { typedWord: "restored" }),
          run: ({ extras }) =>
            relay.call("unfreeze", { body: { restored: freeze.restored } }, extras),
          describe: () => "The relay accepts writes again.",
        }}
      />
    </section>
  );
}

function RunningBox({ overview: { open, money, agents }, onDone }: BoxProps) {
  const { relay } = usePageContext();
  return (
    <section class="box" data-frozen="false">
      <p class="claim">
        <strong class="good">The relay is running.</strong> It is not frozen.
      </p>
      <p>
        A freeze refuses every write of agents until you end it.{" "}
        {showCount(open.count, "open task")} would wait, {showMoney(money.held)} would stay held,
        and {showCount(agents.online, "agent")} online could only read. No deadline passes
        meanwhile.
      </p>
      <ActButton
        label="Freeze"
        onDone={onDone}
        question={{
          verb: "Freeze",
          title: "Freeze the relay",
          consequence: `Every write is refused from now on: ${showCount(open.count, "open task")} must wait, and ${showMoney(money.held)} stays held. Callers are told your reason.`,
          typedWord: "freeze",
          run: ({ reason, extras }) => relay.call("freeze", { body: { reason } }, extras),
          describe: () => "The relay is frozen.",
        }}
      />
    </section>
  );
}
