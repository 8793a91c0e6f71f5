import type { HeartbeatRequest } from "../src/devices/wire.ts";
import type { Host } from "./host.ts";

/** What a heartbeat says of the device, apart from the agent's own version. */
export type Facts = Omit<HeartbeatRequest, "agent_version">;

/** What each platform finds out in its own way. */
export interface PlatformFacts {
	/** Stable across restarts and reinstallations; undefined where the device shows none. */
	hardware_uuid: string | undefined;
	serial_number: string | undefined;
	/** Human-readable, such as "Ubuntu 24.04.2 LTS" or "macOS 15.3 (24D60)". */
	os_version: string;
}

export type FactFinder = (host: Host) => Promise<PlatformFacts>;
