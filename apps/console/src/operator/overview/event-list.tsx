import type { RelayEvent } from "@agent/wire";
import { ForeignLine, ShortId, TimeText } from "../../shared/components/foreign-text.tsx";
import { showDuration, showMoney } from "../../shared/format/show-amount.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { formatHashRoute } from "../../shared/routing/hash-route.ts";

/** The latest events of the relay, newest first. */
export function EventList({ max }: { max: number }) {
  const { feed } = usePageContext();
  const events = feed?.recent.value ?? [];
  if (events.length === 0) return <p class="empty">Nothing has happened yet.</p>;
  return (
    <ol class="events" data-events>
      {events.slice(0, max).map((event) => (
        <li key={event.sequence} data-sequence={event.sequence} class={toneOf(event.type)}>
          <TimeText at={event.at} /> <EventSubject event={event} />{" "}
          <span>{wordOf(event.type)}</span>
          <EventDetail event={event} />
        </li>
      ))}
    </ol>
  );
}

const BAD = /\.(failed|denied|expired|frozen|suspended|removed|no_show|reversed|gave_up)$/;

const toneOf = (type: string) => (BAD.test(type) ? "bad" : undefined);

/** Shows `task.completed` as `completed` for a task; other event types keep their first word. */
const wordOf = (type: string) => type.replace(/^task\./, "").replaceAll(/[._]/g, " ");

const PLACES = [
  ["task_id", "tasks"],
  ["relay_id", "federation"],
  ["peer_id", "federation"],
  ["agent_id", "agents"],
] as const;

/** The subject of an event, as a link to its page. */
function EventSubject({ event }: { event: RelayEvent }) {
  for (const [member, place] of PLACES) {
    const id = event[member];
    if (typeof id === "string") return <ShortId id={id} href={formatHashRoute([place, id])} />;
  }
  return null;
}

function EventDetail({ event }: { event: RelayEvent }) {
  const { amount, duration_ms, reason, detail } = event;
  const text = typeof reason === "string" ? reason : typeof detail === "string" ? detail : "";
  return (
    <>
      {typeof amount === "number" && ` ${showMoney(amount)}`}
      {typeof duration_ms === "number" && ` ${showDuration(duration_ms)}`}
      {text !== "" && (
        <>
          : <ForeignLine text={text} max={80} />
        </>
      )}
    </>
  );
}
