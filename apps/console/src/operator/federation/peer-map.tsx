import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { formatHashRoute } from "../../shared/routing/hash-route.ts";
import { showLine } from "../../shared/format/show-text.ts";
import { describePosition } from "./describe-position.ts";

type Peer = BodyOf<"listFederationPeers">["peers"][number];

const SIZE = { width: 420, height: 300 };
const CENTER = { x: SIZE.width / 2, y: SIZE.height / 2 };
const ORBIT = { x: 140, y: 95 };
const RADIUS = 24;
const ARROW = 16;
const MAX_DRAWN = 12;

/** This relay in the middle and its peers around it; the table beside it states the same facts. */
export function PeerMap({ peers }: { peers: readonly Peer[] }) {
  const drawn = peers.slice(0, MAX_DRAWN);
  if (drawn.length === 0) return null;
  const mostOwed = Math.max(
    ...drawn.map(({ position, reserved }) => Math.abs(position) + reserved),
    0.01,
  );
  return (
    <figure class="chart peer-map">
      <figcaption>Who owes whom</figcaption>
      <svg
        viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
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
            mostOwed={mostOwed}
          />
        ))}
        <circle class="us" cx={CENTER.x} cy={CENTER.y} r={RADIUS} />
        <text x={CENTER.x} y={CENTER.y + 4}>
          us
        </text>
      </svg>
      <p class="hint">
        An arrow points to the relay that is owed; its width is the amount and what open tasks may
        add. The ring is the part of the credit limit that is used.
      </p>
    </figure>
  );
}

const toAngle = (at: number, count: number) => (2 * Math.PI * at) / count - Math.PI / 2;

function DrawnPeer({ peer, angle, mostOwed }: { peer: Peer; angle: number; mostOwed: number }) {
  const x = CENTER.x + ORBIT.x * Math.cos(angle);
  const y = CENTER.y + ORBIT.y * Math.sin(angle);
  const { relay_id, display_name, state, position, reserved, credit_limit, defaulted = 0 } = peer;
  const used = Math.min(
    1,
    (Math.abs(position) + reserved + defaulted) / Math.max(credit_limit, 1e-6),
  );
  const ring = 2 * Math.PI * (RADIUS + 4);
  const length = Math.hypot(x - CENTER.x, y - CENTER.y);
  const [dx, dy] = [(x - CENTER.x) / length, (y - CENTER.y) / length];
  const near = { x: CENTER.x + dx * (RADIUS + 4), y: CENTER.y + dy * (RADIUS + 4) };
  const far = { x: x - dx * (RADIUS + 9), y: y - dy * (RADIUS + 9) };
  const [from, tip] = position > 0 ? [near, far] : [far, near];
  // The line ends where the head of its arrow begins, so that it does not stand out of it.
  const head = position === 0 ? 0 : ARROW * Math.sign(position);
  const to = { x: tip.x - dx * head, y: tip.y - dy * head };
  const width = 1.5 + ((Math.abs(position) + reserved) / mostOwed) * 5;
  return (
    <a href={formatHashRoute(["federation", relay_id])} class={`peer ${state}`}>
      <title>{`${showLine(display_name, 60)}: ${state}, ${describePosition(position)}`}</title>
      <line
        x1={from.x}
        y1={from.y}
        x2={to.x}
        y2={to.y}
        stroke-width={width}
        marker-end={position === 0 ? undefined : "url(#owes)"}
      />
      <circle cx={x} cy={y} r={RADIUS} />
      <circle
        class="ring"
        cx={x}
        cy={y}
        r={RADIUS + 4}
        stroke-dasharray={`${used * ring} ${ring}`}
        transform={`rotate(-90 ${x} ${y})`}
      />
      <text x={x} y={y + 4}>
        {showLine(display_name, 8)}
      </text>
      <text class="owed" x={x} y={y < CENTER.y ? y - RADIUS - 12 : y + RADIUS + 20}>
        {describePosition(position)}
      </text>
    </a>
  );
}
