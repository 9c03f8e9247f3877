import { useAnswer } from "../shared/relay/use-answer.ts";
import { useOwnerContext } from "./owner-context.ts";

/** Reads the scopes that the owner granted this browser; undefined until they are known. */
export function useOwnScopes(): readonly string[] | undefined {
  const { agentId, deviceId } = useOwnerContext().device;
  const { body } = useAnswer("listDevices", { params: { agentId }, query: { limit: 200 } });
  return body?.devices.find(({ device_id }) => device_id === deviceId)?.scopes;
}
