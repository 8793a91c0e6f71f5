import type { Pool } from "pg";
import type { Logger } from "pino";
import { networkOf } from "../load/sign-in-queue.ts";
import { countAttempt, QUARTER } from "../sign-in/sign-in-throttle.ts";

/** Why a request of a program was refused. docs/operating.md explains each to operators. */
export type OauthRefusal =
	/** The program asked for, registered or repeated a redirect_uri that it must not use. */
	| "REDIRECT_URI"
	/** The document about the program cannot be fetched or used. */
	| "CLIENT_DOCUMENT"
	/** A program sent a code or a refresh token that was made for another program. */
	| "OTHER_CLIENT"
	/** A code came without the verifier of the program that asked for it. */
	| "CODE_VERIFIER"
	/** A code came a second time, so its connection has ended. */
	| "CODE_REUSED"
	/** A refresh token came again after it was replaced, so its connection has ended. */
	| "REFRESH_TOKEN_REUSED";

export interface RefusedClient {
	reason: OauthRefusal;
	clientId?: string | undefined;
	address?: string | undefined;
	/** A sentence about the refusal, without codes and tokens. */
	why?: string;
}

/** Longest client id that a line repeats. */
const MAX_CLIENT = 200;
/** Most refusals of strangers that are logged for one network in 15 minutes. */
const MAX_LINES = 100;

/** Logs that the request of a program was refused and may be an attack. */
export function logRefusedClient(
	log: Logger,
	{ reason, clientId, address, why }: RefusedClient,
): void {
	log.warn(
		{
			event: "oauth_refused",
			reason,
			...(why !== undefined && { why }),
			client: clientId?.slice(0, MAX_CLIENT),
			address,
		},
		"a program that wanted to connect was refused",
	);
}

/** Logs the refusal of a stranger, unless too many from the same network were logged already. */
export async function logRefusedStranger(
	{ pool, log }: { pool: Pool; log: Logger },
	refused: RefusedClient,
): Promise<void> {
	const { waitSeconds } = await countAttempt(
		pool,
		`refused programs from ${networkOf(refused.address ?? "")}`,
		{ allowed: MAX_LINES, window: QUARTER },
	);
	if (waitSeconds === 0) logRefusedClient(log, refused);
}
