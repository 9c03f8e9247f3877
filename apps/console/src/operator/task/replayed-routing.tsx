import { useMemo } from "preact/hooks";
import {
  type RankedCandidate,
  rankRecorded,
  type RoutingRecord,
  type Weights,
} from "@agent/routing-semiring";
import { FactList } from "../../shared/components/fact-list.tsx";
import { RowTable } from "../../shared/components/page-table.tsx";
import { showMoney, showPercent } from "../../shared/format/show-amount.ts";
import { AgentLink } from "../subject-links.tsx";
import { RouteGraph } from "./route-graph.tsx";

/** The maximum number of listed candidates; the record may have hundreds. */
const MAX_LISTED = 12;

const FACTORS = [
  ["trust", "trust"],
  ["success_rate", "success"],
  ["latency", "latency"],
  ["price_efficiency", "price"],
  ["capability_match", "match"],
  ["availability", "online"],
] as const satisfies readonly (readonly [keyof Weights, string])[];

interface Replay {
  /** Whether the same inputs lead to the same choice here; undefined if they could not be replayed. */
  readonly isSame: boolean | undefined;
  readonly ranked: readonly RankedCandidate[];
}

/** Ranks the recorded inputs again by the published rules. */
function replayRecord(record: RoutingRecord): Replay {
  try {
    const { choice, ranked } = rankRecorded(record, MAX_LISTED);
    return { isSame: choice?.selected_agent === record.choice?.selected_agent, ranked };
  } catch {
    return { isSame: undefined, ranked: [] };
  }
}

/** The relay's choice, recomputed in the browser, with the scores that led to it. */
export function ReplayedRouting({ record }: { record: RoutingRecord }) {
  const { isSame, ranked } = useMemo(() => replayRecord(record), [record]);
  const chosen = record.choice?.selected_agent;
  return (
    <>
      <p class={isSame === true ? "good" : "bad"} data-replayed={isSame}>
        <strong>
          {isSame === true
            ? "✓ Replayed in this browser: the same choice"
            : isSame === false
              ? "✗ Replayed in this browser: a different choice from that of the relay"
              : "✗ The record cannot be replayed here"}
        </strong>
      </p>
      <RouteGraph ranked={ranked} graph={record.graph} from={record.from} chosen={chosen} />
      <RowTable
        caption="Candidates"
        rows={ranked}
        rowKey={({ agent_id }) => agent_id}
        empty="There was no candidate."
        columns={[
          {
            title: "candidate",
            cell: ({ agent_id }) => (
              <>
                <AgentLink id={agent_id} /> {agent_id === chosen && <b class="good">chosen</b>}
              </>
            ),
          },
          ...FACTORS.map(([factor, title]) => ({
            title,
            cell: ({ sub_scores }: RankedCandidate) => (
              <FactorBar value={sub_scores[factor]} weight={record.weights[factor]} />
            ),
          })),
          {
            title: "cost",
            isNumber: true,
            cell: ({ cost }) => (cost === null ? "no price" : showMoney(cost)),
          },
          {
            title: "score",
            isNumber: true,
            cell: ({ composite_score }) => <b>{composite_score.toFixed(3)}</b>,
          },
        ]}
      />
      <FactList
        facts={[
          ["algorithm", record.algorithm],
          ["seed", String(record.seed)],
          ["exploration", showPercent(record.exploration_drive)],
          ["candidates", String(record.excerpt?.candidates ?? record.candidates.length)],
          [
            "weights",
            FACTORS.map(([factor, title]) => `${title} ${record.weights[factor]}`).join(", "),
          ],
        ]}
      />
    </>
  );
}

const BAR_WIDTH = 48;

/** A factor from 0 to 1; the bar shows its contribution to the score, so the decisive factor has the longest bar. */
function FactorBar({ value, weight }: { value: number; weight: number }) {
  const part = value * weight;
  return (
    <span class="factor">
      {value.toFixed(2)}
      <svg viewBox={`0 0 ${BAR_WIDTH} 6`} aria-hidden="true">
        <rect class="track" width={weight * 2 * BAR_WIDTH} height={6} />
        <rect class="part" width={part * 2 * BAR_WIDTH} height={6} />
      </svg>
    </span>
  );
}
