import { useState } from "preact/hooks";
import { AnswerView } from "../../shared/components/answer-view.tsx";
import { FactList } from "../../shared/components/fact-list.tsx";
import { PageTable } from "../../shared/components/page-table.tsx";
import {
  ForeignAddress,
  ForeignLine,
  ShortId,
  TimeText,
} from "../../shared/components/foreign-text.tsx";
import { ViewTitle } from "../../shared/components/view-title.tsx";
import { showMoney, showPercent } from "../../shared/format/show-amount.ts";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useListPages } from "../../shared/relay/use-list-pages.ts";
import { useAnswer } from "../../shared/relay/use-answer.ts";
import { StateWord } from "../state-word.tsx";
import { describeCircuit } from "./describe-circuit.ts";
import { describePosition } from "./describe-position.ts";
import { getUsedCredit } from "./peer-figures.ts";
import { PeerActs } from "./peer-acts.tsx";
import type { Peer } from "./peer.ts";

const paymentsOf = (body: BodyOf<"listPeerPayments">) => body.payments;
const historyOf = (body: BodyOf<"listPeerHistory">) => body.history;

/** One peer: its state and heartbeats, and its position as the sum of its parts. */
export function PeerPage({ id }: { id: string }) {
  const [version, setVersion] = useState(0);
  const rules = { version, on: ["peer.", "money."] };
  const peers = useAnswer("listFederationPeers", {}, rules);
  return (
    <>
      <ViewTitle title="Peer" id={id} />
      <AnswerView answer={peers}>
        {(body) => {
          const peer = body.peers.find(({ relay_id }) => relay_id === id);
          return peer === undefined ? (
            <p class="empty">No peer has this id.</p>
          ) : (
            <>
              <PeerFacts peer={peer} />
              <PeerActs peer={peer} onDone={() => setVersion((before) => before + 1)} />
            </>
          );
        }}
      </AnswerView>
      <div class="columns">
        <PeerPayments relayId={id} version={version} />
        <PeerHistory relayId={id} />
      </div>
    </>
  );
}

function PeerFacts({ peer }: { peer: Peer }) {
  return (
    <section class="box">
      <p class="claim">
        <strong>
          <ForeignLine text={peer.display_name} max={80} />
        </strong>{" "}
        · <StateWord state={peer.state} /> · {describePosition(peer.position)}
      </p>
      <FactList
        facts={[
          ["address", <ForeignAddress key="a" address={peer.endpoint_url} />],
          ["key", <ShortId key="k" id={peer.public_key} />],
          ["tasks in 24 h", String(peer.tasks_24h ?? 0)],
          [
            "credit limit",
            `${showMoney(peer.credit_limit)}, ${showPercent(getUsedCredit(peer))} used`,
          ],
          ["reserved by open tasks", showMoney(peer.reserved)],
          ["defaulted", showMoney(peer.defaulted ?? 0)],
          ["unanswered and unpaid results", showMoney(peer.undecided ?? 0)],
          ["results refused as too late", showMoney(peer.refused ?? 0)],
          ["trust", peer.trust_score.toFixed(2)],
          ["agents", String(peer.agent_count)],
          [
            "last heartbeat",
            <>
              <TimeText key="h" at={peer.last_heartbeat_at} />, {peer.missed_heartbeats} missed
            </>,
          ],
          ["circuit breaker", describeCircuit(peer)],
        ]}
      />
    </section>
  );
}

function PeerPayments({ relayId, version }: { relayId: string; version: number }) {
  const loadPage = useListPages("listPeerPayments", { params: { relayId } }, paymentsOf);
  return (
    <section class="box">
      <h2>Movements, newest first</h2>
      <p class="hint">
        Their sum is the position. A position above 0 is what this relay owes the peer.
      </p>
      <PageTable
        caption="Movements with the peer"
        loadPage={loadPage}
        rules={{ version, on: ["money."] }}
        rowKey={({ at, reference, position_after }) => `${at} ${reference ?? ""} ${position_after}`}
        empty="No money has moved."
        columns={[
          { title: "when", cell: ({ at }) => <TimeText at={at} /> },
          { title: "movement", cell: ({ type }) => type.replaceAll("_", " ") },
          { title: "amount", isNumber: true, cell: ({ amount }) => showMoney(amount) },
          {
            title: "position",
            isNumber: true,
            cell: ({ position_after }) => showMoney(position_after),
          },
          {
            title: "for",
            cell: ({ reference }) =>
              reference === null ? "–" : <ForeignLine text={reference} max={50} />,
          },
        ]}
      />
    </section>
  );
}

function PeerHistory({ relayId }: { relayId: string }) {
  const loadPage = useListPages("listPeerHistory", { params: { relayId } }, historyOf);
  return (
    <section class="box">
      <h2>Heartbeats and changes of state</h2>
      <PageTable
        caption="History of the peer"
        loadPage={loadPage}
        rules={{ on: ["peer."] }}
        rowKey={({ sequence }) => sequence}
        empty="Nothing has changed in 7 days, and no heartbeat was missed."
        columns={[
          { title: "when", cell: ({ at }) => <TimeText at={at} /> },
          { title: "event", cell: ({ type }) => type.replace(/^peer\./, "").replaceAll("_", " ") },
        ]}
      />
    </section>
  );
}
