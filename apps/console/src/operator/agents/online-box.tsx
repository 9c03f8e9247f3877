import { AnswerView } from "../../shared/components/answer-view.tsx";
import { TimeText } from "../../shared/components/foreign-text.tsx";
import { RowTable } from "../../shared/components/page-table.tsx";
import { showDuration } from "../../shared/format/show-amount.ts";
import { useAnswer } from "../../shared/relay/use-answer.ts";
import { cutTimes, describeTimes, placeSpan, type OnlineTimes } from "./online-times.ts";

const DAY_MS = 86_400_000;
/** The interval at which the relay takes samples. */
const RELOAD_MS = 60_000;
const MAX_LISTED = 100;
const SIZE = { length: 960, height: 28, low: 6 };

/** Shows when the agent was online in the last day and the last week. */
export function OnlineBox({ agentId }: { agentId: string }) {
  // The answer goes back at most one week.
  const request = { params: { agentId }, query: { from: 0 } };
  const answer = useAnswer("getOnlineHistory", request, { everyMs: RELOAD_MS });
  return (
    <section class="box">
      <h2>When was it online?</h2>
      <AnswerView answer={answer}>
        {(week) => (
          <>
            <div class="online-strips">
              <OnlineStrip
                times={cutTimes(week, week.to - DAY_MS)}
                period="24 hours"
                marks={["24 h", "18 h", "12 h", "6 h", "now"]}
              />
              <OnlineStrip
                times={week}
                period="7 days"
                marks={["7 d", "6 d", "5 d", "4 d", "3 d", "2 d", "1 d", "now"]}
              />
            </div>
            <p class="hint">
              <span class="key online" aria-hidden="true" /> online{" "}
              <span class="key offline" aria-hidden="true" /> offline{" "}
              <span class="key" aria-hidden="true" /> not checked. The relay checks once a minute.
            </p>
            <SpanList times={week} />
          </>
        )}
      </AnswerView>
    </section>
  );
}

/** A timeline with a sentence that says the same. */
function OnlineStrip({
  times,
  period,
  marks,
}: {
  times: OnlineTimes;
  period: string;
  /** The labels of moments at equal distances. */
  marks: readonly string[];
}) {
  const { length, height, low } = SIZE;
  const place = (span: OnlineTimes["spans"][number]) => placeSpan(span, times, length);
  return (
    <div class="online-strip">
      <p>
        <strong>{describeTimes(times, period)}</strong>
      </p>
      <svg viewBox={`0 0 ${length} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        {times.watched.map((span) => (
          <rect key={span.from} class="offline" y={height - low} height={low} {...place(span)} />
        ))}
        {times.spans.map((span) => (
          <rect key={span.from} class="online" y={0} height={height} {...place(span)} />
        ))}
        {marks.slice(1, -1).map((mark, at) => {
          const x = ((at + 1) * length) / (marks.length - 1);
          return <line key={mark} x1={x} x2={x} y1={0} y2={height} />;
        })}
      </svg>
      <p class="marks" aria-hidden="true">
        {marks.map((mark) => (
          <span key={mark}>{mark}</span>
        ))}
      </p>
    </div>
  );
}

/** The same periods in words, latest first. */
function SpanList({ times: { spans } }: { times: OnlineTimes }) {
  if (spans.length === 0) return null;
  const listed = spans.toReversed().slice(0, MAX_LISTED);
  return (
    <details>
      <summary>
        {listed.length < spans.length
          ? `The latest ${listed.length} of ${spans.length} periods in the last 7 days`
          : `Periods in the last 7 days: ${spans.length}`}
      </summary>
      <RowTable
        caption="Periods in which it was online"
        rows={listed}
        rowKey={({ from }) => from}
        empty=""
        columns={[
          { title: "from", cell: ({ from }) => <TimeText at={from} /> },
          { title: "until", cell: ({ until }) => <TimeText at={until} /> },
          {
            title: "lasted",
            isNumber: true,
            cell: ({ from, until }) => showDuration(until - from),
          },
        ]}
      />
    </details>
  );
}
