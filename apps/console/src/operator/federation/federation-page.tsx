import { useState } from "preact/hooks";
import { ActButton } from "../../shared/components/act-dialog.tsx";
import { AnswerView } from "../../shared/components/answer-view.tsx";
import { RowTable } from "../../shared/components/page-table.tsx";
import {
  ForeignLine,
  IdCode,
  QuotedText,
  TimeText,
} from "../../shared/components/foreign-text.tsx";
import { ViewTitle } from "../../shared/components/view-title.tsx";
import { showMoney, showPercent } from "../../shared/format/show-amount.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { useAnswer } from "../../shared/relay/use-answer.ts";
import { StateWord } from "../state-word.tsx";
import { PeerLink } from "../subject-links.tsx";
import { describePosition } from "./describe-position.ts";
import { OutboxTable } from "./outbox-table.tsx";
import { getUsedCredit } from "./peer-figures.ts";
import { PeerMap } from "./peer-map.tsx";
import type { Peer } from "./peer.ts";

/** Shows the peers of this relay, and the debts between them and it. */
export function FederationPage() {
  const info = useAnswer("relayInfo", {});
  return (
    <AnswerView answer={info}>
      {({ features }) =>
        features.includes("federation") ? (
          <PeersView />
        ) : (
          <>
            <ViewTitle title="Federation" />
            <p class="empty">
              Federation is turned off. To turn it on, set{" "}
              <code>AGENT_FEDERATION_ENDPOINT_URL</code>.
            </p>
          </>
        )
      }
    </AnswerView>
  );
}

function PeersView() {
  const [version, setVersion] = useState(0);
  const again = () => setVersion((before) => before + 1);
  const peers = useAnswer("listFederationPeers", {}, { version, on: ["peer.", "money.", "task."] });
  return (
    <>
      <ViewTitle title="Federation">
        <AddPeerButton onDone={again} />
      </ViewTitle>
      <AnswerView answer={peers}>
        {(body) => (
          <>
            <section class="box">
              <h2>Peers</h2>
              <PeerTable peers={body.peers} />
            </section>
            <PeerMap peers={body.peers} />
            <OutboxTable />
          </>
        )}
      </AnswerView>
    </>
  );
}

function PeerTable({ peers }: { peers: readonly Peer[] }) {
  return (
    <RowTable
      caption="Peers"
      rows={peers}
      rowKey={({ relay_id }) => relay_id}
      empty="There is no peer yet."
      tone={({ state }) =>
        state === "removed" ? "bad" : state === "suspended" ? "doubt" : undefined
      }
      columns={[
        {
          title: "relay",
          cell: ({ relay_id, display_name }) => (
            <>
              <ForeignLine text={display_name} max={40} /> <PeerLink id={relay_id} />
            </>
          ),
        },
        { title: "state", cell: ({ state }) => <StateWord state={state} /> },
        {
          title: "position",
          cell: ({ position }) => describePosition(position),
        },
        { title: "tasks in 24 h", isNumber: true, cell: ({ tasks_24h = 0 }) => tasks_24h },
        {
          title: "credit limit",
          isNumber: true,
          cell: ({ credit_limit }) => showMoney(credit_limit),
        },
        { title: "used", isNumber: true, cell: (peer) => showPercent(getUsedCredit(peer)) },
        { title: "reserved", isNumber: true, cell: ({ reserved }) => showMoney(reserved) },
        { title: "trust", isNumber: true, cell: ({ trust_score }) => trust_score.toFixed(2) },
        { title: "agents", isNumber: true, cell: ({ agent_count }) => agent_count },
        {
          title: "last heartbeat",
          cell: ({ last_heartbeat_at, missed_heartbeats }) => (
            <>
              <TimeText at={last_heartbeat_at} />
              {missed_heartbeats > 0 && <b class="bad"> {missed_heartbeats} missed</b>}
            </>
          ),
        },
      ]}
    />
  );
}

function AddPeerButton({ onDone }: { onDone: () => void }) {
  const { relay } = usePageContext();
  return (
    <ActButton
      label="Add a peer"
      onDone={onDone}
      question={{
        verb: "Add",
        title: "Add a peer",
        consequence:
          "This relay calls that address and proposes to become its peer. Each relay may then owe the other money for tasks, up to AGENT_FEDERATION_CREDIT_LIMIT (1000.00 USD unless you have set it), until you change the limit of this peer. Afterwards compare the id and the key that are shown with those that its operator gave you.",
        fields: [{ name: "url", label: "Address of the other relay", inputMode: "url" }],
        run: ({ fields, extras }) =>
          relay.call("addPeer", { body: { endpoint_url: fields["url"] ?? "" } }, extras),
        describe: ({ display_name, relay_id, public_key, state, credit_limit }) => (
          <>
            <QuotedText text={display_name} /> is {state}, with a credit limit of{" "}
            {showMoney(credit_limit)}. Its id is <IdCode id={relay_id} />, its key{" "}
            <IdCode id={public_key} />. Compare both with those that its operator gave you.
          </>
        ),
      }}
    />
  );
}
