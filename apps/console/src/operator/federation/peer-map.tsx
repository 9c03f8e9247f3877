import { formatHashRoute } from "../../shared/routing/hash-route.ts";
import { showPercent } from "../../shared/format/show-amount.ts";
import { showCount, showLine } from "../../shared/format/show-text.ts";
import { describePosition } from "./describe-position.ts";
import { getLineWidth, getUsedCredit } from "./peer-figures.ts";
import type { Peer } from "./peer.ts";

const WIDTH = 420;
const CENTER = { x: WIDTH / 2, y: 0 };
const ORBIT = { x: 140, y: 95 };
const RADIUS = 24;
/** The height of the two lines of text above or below a peer's circle. */
const LABELS = 40;
const ARROW = 16;
const MAX_DRAWN = 12;

/** This relay in the middle with its peers around it; the table beside the map states the same facts. */
export function PeerMap({ peers }: { peers: readonly Peer[] }) {
  const drawn = peers.slice(0, MAX_DRAWN);
  if (drawn.length === 0) return null;
  const mostTasks = Math.max(...drawn.map(({ tasks_24h = 0 }) => tasks_24h));
  // One or two peers are drawn on a horizontal line and need less height.
  const heights = drawn.map((_, at) => Math.abs(Math.sin(toAngle(at, drawn.length))));
  const reach = ORBIT.y * Math.max(...heights) + RADIUS + LABELS;
  return (
    <figure class="chart peer-map">
      <figcaption>Tasks in 24 hours, and who owes whom</figcaption>
      <svg
        viewBox={`0 ${CENTER.y - reach} ${WIDTH} ${2 * reach}`}
        role="group"
        aria-label={`Map of ${drawn.length} peers`}
      >
        <defs>
          <marker
            id="owes"
            viewBox="0 0 10 10"
            refX="0"
            refY="5"
            markerWidth={ARROW}
            markerHeight={ARROW}
            orient="auto-start-reverse"
            markerUnits="userSpaceOnUse"
          >
            <path d="M0 0L10 5L0 10z" />
          </marker>
        </defs>
        {drawn.map((peer, at) => (
          <DrawnPeer
            key={peer.relay_id}
            peer={peer}
            angle={toAngle(at, drawn.length)}
            mostTasks={mostTasks}
          />
        ))}
        <circle class="us" cx={CENTER.x} cy={CENTER.y} r={RADIUS} />
        <text x={CENTER.x} y={CENTER.y + 4}>
          us
        </text>
      </svg>
      <p class="hint">
        The line to the busiest peer is the thickest, and one without a task is dashed. An arrow
        points to the relay that is owed. The ring is the part of the credit limit that is used.
      </p>
    </figure>
  );
}

/** The first peer is drawn on the left, because the map is wider than high. */
const toAngle = (at: number, count: number) => (2 * Math.PI * at) / count - Math.PI;

/** Describes in words the facts that a peer's shapes show. */
function describePeer(peer: Peer): string {
  const { display_name, state, position, tasks_24h = 0 } = peer;
  const used = showPercent(getUsedCredit(peer));
  const traffic = `${showCount(tasks_24h, "task")} in 24 hours`;
  return `${showLine(display_name, 60)}: ${state}, ${traffic}, ${describePosition(position)}, ${used} of the credit limit used`;
}

function DrawnPeer({ peer, angle, mostTasks }: { peer: Peer; angle: number; mostTasks: number }) {
  const x = CENTER.x + ORBIT.x * Math.cos(angle);
  const y = CENTER.y + ORBIT.y * Math.sin(angle);
  const { relay_id, display_name, state, position, tasks_24h = 0 } = peer;
  const ring = 2 * Math.PI * (RADIUS + 4);
  const length = Math.hypot(x - CENTER.x, y - CENTER.y);
  const [dx, dy] = [(x - CENTER.x) / length, (y - CENTER.y) / length];
  const near = { x: CENTER.x + dx * (RADIUS + 4), y: CENTER.y + dy * (RADIUS + 4) };
  const far = { x: x - dx * (RADIUS + 9), y: y - dy * (RADIUS + 9) };
  const [from, tip] = position > 0 ? [near, far] : [far, near];
  // The line ends where its arrowhead begins, so that it does not protrude beyond the tip.
  const head = position === 0 ? 0 : ARROW * Math.sign(position);
  const to = { x: tip.x - dx * head, y: tip.y - dy * head };
  const labelY = y < CENTER.y - 1 ? y - RADIUS - 26 : y + RADIUS + 20;
  return (
    <a href={formatHashRoute(["federation", relay_id])} class={`peer ${state}`}>
      <title>{describePeer(peer)}</title>
      <line
        x1={from.x}
        y1={from.y}
        x2={to.x}
        y2={to.y}
        stroke-width={getLineWidth(tasks_24h, mostTasks)}
        stroke-dasharray={tasks_24h === 0 ? "4 4" : undefined}
        marker-end={position === 0 ? undefined : "url(#owes)"}
      />
      <circle cx={x} cy={y} r={RADIUS} />
      <circle
        class="ring"
        cx={x}
        cy={y}
        r={RADIUS + 4}
        stroke-dasharray={`${getUsedCredit(peer) * ring} ${ring}`}
        transform={`rotate(-90 ${x} ${y})`}
      />
      <text x={x} y={y + 4}>
        {showLine(display_name, 8)}
      </text>
      <text x={x} y={labelY}>
        {describePosition(position)}
      </text>
      <text x={x} y={labelY + 14}>
        {showCount(tasks_24h, "task")}
      </text>
    </a>
  );
}
