import { useState } from "preact/hooks";
import { ActButton } from "../../shared/components/act-dialog.tsx";
import { AnswerView } from "../../shared/components/answer-view.tsx";
import { PageTable } from "../../shared/components/page-table.tsx";
import {
  ForeignLine,
  IdCode,
  QuotedText,
  ShortId,
  TimeText,
} from "../../shared/components/foreign-text.tsx";
import type { BodyOf } from "../../shared/relay/call-relay.ts";
import { useListPages } from "../../shared/relay/use-list-pages.ts";
import { usePageContext } from "../../shared/relay/page-context.ts";
import { useAnswer } from "../../shared/relay/use-answer.ts";

type Device = BodyOf<"listDevices">["devices"][number];

const devicesOf = (body: BodyOf<"listDevices">) => body.devices;

/** The keys that may act for the agent, and the former ones. */
export function AgentDevices({ agentId }: { agentId: string }) {
  const [version, setVersion] = useState(0);
  const params = { agentId };
  const loadPage = useListPages("listDevices", { params }, devicesOf);
  const succession = useAnswer("getSuccession", { params });
  return (
    <section class="box">
      <h2>Keys and devices</h2>
      <PageTable
        caption="Devices"
        loadPage={loadPage}
        rules={{ version, on: ["device."], about: agentId }}
        rowKey={({ device_id }) => device_id}
        empty="No device acts for it."
        tone={({ revoked }) => (revoked ? "doubt" : undefined)}
        columns={[
          { title: "device", cell: ({ device_id }) => <ShortId id={device_id} /> },
          {
            title: "name",
            cell: ({ device_name }) =>
              device_name === null ? "–" : <ForeignLine text={device_name} max={40} />,
          },
          { title: "key", cell: ({ public_key }) => <ShortId id={public_key} /> },
          {
            title: "scopes",
            cell: ({ scopes }) => <ForeignLine text={scopes.join(", ")} max={60} />,
          },
          { title: "since", cell: ({ registered_at }) => <TimeText at={registered_at} /> },
          {
            title: "",
            cell: (device) =>
              device.revoked ? (
                <span class="bad">revoked</span>
              ) : (
                <RevokeDevice device={device} onDone={() => setVersion(version + 1)} />
              ),
          },
        ]}
      />
      <AnswerView answer={succession}>
        {({ keys }) => (
          <p>
            {keys.length === 1
              ? "It has had only one key."
              : `It has had ${keys.length} keys; each one signed its successor.`}{" "}
            {keys.map(({ public_key, valid_from }) => (
              <span key={public_key}>
                <ShortId id={public_key} /> since <TimeText at={valid_from} />{" "}
              </span>
            ))}
          </p>
        )}
      </AnswerView>
    </section>
  );
}

function RevokeDevice({ device, onDone }: { device: Device; onDone: () => void }) {
  const { relay } = usePageContext();
  const { agent_id: agentId, device_id: deviceId, device_name } = device;
  const name = (
    <>
      <IdCode id={deviceId} />
      {device_name !== null && (
        <>
          , which is named <QuotedText text={device_name} />
        </>
      )}
    </>
  );
  return (
    <ActButton
      label="Revoke"
      onDone={onDone}
      question={{
        verb: "Revoke",
        title: "Revoke a device",
        consequence: (
          <>
            Agent <IdCode id={agentId} /> can never again use the device {name}. Its tokens and
            sockets are ended at once.
          </>
        ),
        typedWord: "revoke",
        run: ({ extras }) => relay.call("revokeDevice", { params: { agentId, deviceId } }, extras),
        describe: () => <>Revoked: {name}.</>,
      }}
    />
  );
}
