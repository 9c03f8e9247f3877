import { AnswerView } from "../../shared/components/answer-view.tsx";
import { FactList } from "../../shared/components/fact-list.tsx";
import { RowTable } from "../../shared/components/page-table.tsx";
import {
  ForeignAddress,
  ForeignLine,
  ShortId,
  TimeText,
} from "../../shared/components/foreign-text.tsx";
import { ViewTitle } from "../../shared/components/view-title.tsx";
import { showLine, showText } from "../../shared/format/show-text.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useAnswer } from "../../shared/relay/use-answer.ts";

type LogState = BodyOf<"getLogState">;

const REFRESH_MS = 15_000;

/** The transparency log, whether its witnesses follow it, and proofs that other logs contradicted themselves. */
export function LogPage() {
  const state = useAnswer("getLogState", {}, { everyMs: REFRESH_MS });
  return (
    <>
      <ViewTitle title="Log and witnesses" />
      <AnswerView answer={state}>
        {(body) => (body.on ? <LogFacts state={body} /> : <p>The log is turned off.</p>)}
      </AnswerView>
    </>
  );
}

function LogFacts({ state }: { state: LogState }) {
  const { held, evidence, size, lag, latest, published, origin, vkey, witnesses } = state;
  return (
    <>
      {held !== null && (
        <p class="refusal" role="alert">
          No head is signed: {showLine(held, 200)}
        </p>
      )}
      <LogAlarms evidence={evidence} />
      <section class="box">
        <FactList
          facts={[
            ["entries", `${size}, of which ${lag} are in no head yet`],
            [
              "newest head",
              latest === null ? (
                "none yet"
              ) : (
                <>
                  {latest.size} entries, <TimeText key="l" at={latest.signed_at} />
                </>
              ),
            ],
            [
              "published head",
              published === null
                ? "none yet"
                : `${published.size} entries, cosigned by ${published.cosigned}`,
            ],
            ["origin", showText(origin, 200)],
            ["key", <ShortId key="k" id={vkey} />],
          ]}
        />
        <p>
          <a href="./log">The page of the log</a> checks it in your browser.
        </p>
      </section>
      <section class="box">
        <h2>Witnesses of this log</h2>
        <RowTable
          caption="Witnesses"
          rows={witnesses}
          rowKey={({ vkey: key }) => key}
          empty="No witness is configured, so readers can compare the log only with what they saw of it before."
          tone={({ state: each }) =>
            each === "cosigned" || each === "unasked" ? undefined : "bad"
          }
          columns={[
            { title: "name", cell: ({ name }) => <ForeignLine text={name} max={60} /> },
            { title: "state", cell: ({ state: each }) => each },
            { title: "cosigned entries", isNumber: true, cell: ({ size: each }) => each ?? "–" },
            { title: "last answer", cell: ({ answered_at }) => <TimeText at={answered_at} /> },
            { title: "address", cell: ({ prefix }) => <ForeignAddress address={prefix} /> },
          ]}
        />
      </section>
    </>
  );
}

/** Two signed heads that contradict each other prove that a log showed different lists. */
function LogAlarms({ evidence }: Pick<LogState, "evidence">) {
  if (evidence.length === 0)
    return <p class="good">✓ No log that this relay watches has contradicted itself.</p>;
  return (
    <section class="box bad-back">
      <h2>Alarms: logs that contradicted themselves</h2>
      {evidence.map(({ origin, code, held, offered, seen_at }) => (
        <details key={`${origin} ${seen_at}`}>
          <summary>
            <ForeignLine text={origin} max={80} />: <code>{code}</code>, <TimeText at={seen_at} />
          </summary>
          <h3>Cosigned before</h3>
          <pre tabIndex={0}>{showText(held, 2_000)}</pre>
          <h3>Offered later</h3>
          <pre tabIndex={0}>{showText(offered, 2_000)}</pre>
        </details>
      ))}
    </section>
  );
}
