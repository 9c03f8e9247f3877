import { useMemo } from "preact/hooks";
import type { SeriesMetric } from "@agent/wire";
import { Sparkline } from "../../shared/charts/sparkline.tsx";
import { showMoney, sumMoney } from "../../shared/format/show-amount.ts";
import { showCount } from "../../shared/format/show-text.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useNow } from "../../shared/relay/page-context.ts";
import { useAnswer } from "../../shared/relay/use-answer.ts";

const MINUTE_MS = 60_000;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The values of one figure; without a period, those of the last hour, one per minute. */
function useFigure(
  metric: SeriesMetric,
  period: { readonly from?: number; readonly step?: number } = {},
): readonly (number | null)[] {
  const { body } = useAnswer("getSeries", { query: { metric, ...period } }, { everyMs: MINUTE_MS });
  return useMemo(() => (body?.points ?? []).map(({ value }) => value), [body]);
}

/** The four figures that show the relay's activity. */
export function FigureTiles({ overview }: { overview: BodyOf<"getOverview"> }) {
  const submitted = useFigure("submitted");
  const online = useFigure("online");
  // Fees are counted per day, which begins at midnight UTC.
  const midnight = Math.floor(useNow(MINUTE_MS) / DAY_MS) * DAY_MS;
  const settled = useFigure("settled", { from: midnight, step: HOUR_MS });
  const { money, open, agents, sockets } = overview;
  // The current minute has only begun, so the previous one is the newest complete minute.
  const perMinute = submitted.at(-2) ?? submitted.at(-1) ?? 0;
  const settledToday = sumMoney(settled.map((value) => value ?? 0));
  return (
    <ul class="tiles">
      <li>
        <span>tasks per minute</span>
        <strong>{perMinute}</strong>
        <Sparkline values={submitted} label="Tasks submitted per minute in the last hour" />
      </li>
      <li>
        <span>settled today</span>
        <strong>{showMoney(settledToday)}</strong>
        <Sparkline values={settled} label="USD settled per hour today (UTC)" />
      </li>
      <li>
        <span>held now</span>
        <strong>{showMoney(money.held)}</strong>
        <small>for {showCount(open.count, "open task")}</small>
      </li>
      <li>
        <span>agents online</span>
        <strong>
          {agents.online} of {agents.registered}
        </strong>
        <small>
          {showCount(sockets, "socket")}, {agents.bound} known
        </small>
        <Sparkline values={online} label="Agents online in the last hour" />
      </li>
    </ul>
  );
}
