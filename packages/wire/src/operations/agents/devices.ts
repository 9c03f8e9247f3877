import * as v from "valibot";
import { nextCursor, pageQuery, wholeNumber } from "../../engine/fields.ts";
import { defineOperation } from "../../engine/operation.ts";

/** A key that may act for an agent, as every caller with a token sees it. */
export const Device = v.object({
  device_id: v.string(),
  agent_id: v.string(),
  public_key: v.string(),
  did: v.string(),
  device_name: v.nullable(v.string()),
  registered_at: wholeNumber,
  revoked: v.boolean(),
});
export type Device = v.InferOutput<typeof Device>;

const OwnDevice = v.object({ ...Device.entries, scopes: v.array(v.string()) });

export const devices = {
  getDevice: defineOperation({
    method: "GET",
    path: "/api/v1/devices/:deviceId",
    summary: "Get a device and its public key.",
    section: "Registry",
    auth: "bearer",
    tier: "read",
    ok: { 200: Device },
    refusals: ["device.not_found"],
  }),
  listDevices: defineOperation({
    method: "GET",
    path: "/api/v1/agents/:agentId/devices",
    summary: "List an agent's devices and their scopes, including revoked ones.",
    section: "Registry",
    auth: "bearer",
    ownerOnly: true,
    tier: "read",
    query: v.object(pageQuery),
    ok: { 200: v.object({ devices: v.array(OwnDevice), next_cursor: nextCursor }) },
    refusals: ["request.invalid"],
  }),
  revokeDevice: defineOperation({
    method: "DELETE",
    path: "/api/v1/agents/:agentId/devices/:deviceId",
    summary:
      "Revoke a device permanently, with its tokens and sockets; a device may always revoke itself.",
    section: "Registry",
    auth: "bearer",
    operator: "operate",
    ownerOnly: true,
    scope: "agent:write",
    ownDevice: true,
    singleUse: true,
    tier: "auth",
    ok: { 200: v.object({ device_id: v.string(), revoked: v.literal(true) }) },
    refusals: ["device.not_found", "device.carries_agent_key"],
  }),
} as const;
