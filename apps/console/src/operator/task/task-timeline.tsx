import { TimeText } from "../../shared/components/foreign-text.tsx";
import { showDuration } from "../../shared/format/show-amount.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";

type Events = BodyOf<"getTaskReport">["events"];

interface Step {
  readonly word: string;
  readonly at: number;
}

/** The events of a task in order, with the time between them. */
export function TaskTimeline({
  events,
  submittedAt,
  endedAt,
}: {
  events: Events;
  submittedAt: number;
  endedAt: number | null;
}) {
  const steps = toSteps(events, submittedAt, endedAt);
  return (
    <ol class="timeline" aria-label="What happened">
      {steps.map(({ word, at }, index) => {
        const before = steps[index - 1];
        return (
          <li key={`${index} ${word}`}>
            {before !== undefined && <span class="gap">{showDuration(at - before.at)}</span>}
            <b>{word}</b> <TimeText at={at} />
          </li>
        );
      })}
    </ol>
  );
}

/** A task whose events were deleted still shows its beginning and its end. */
function toSteps(events: Events, submittedAt: number, endedAt: number | null): readonly Step[] {
  const steps = events.flatMap(({ type, at }) =>
    typeof type === "string" && typeof at === "number" ? [{ word: type, at }] : [],
  );
  if (steps.length > 0) return steps;
  const first = { word: "submitted", at: submittedAt };
  return endedAt === null ? [first] : [first, { word: "ended", at: endedAt }];
}
