import type { Outcome } from "./client.ts";
import { clearCredentials, readCredentials } from "./credentials.ts";
import { addRejection, describeRejection, isFinal } from "./rejection.ts";
import type { Session } from "./session.ts";
import { writeState } from "./state.ts";

/** Stores the outcome in the state, and ends the enrollment if the key is certainly not valid. */
export async function noteOutcome(
	session: Session,
	outcome: Outcome,
	/**
	 * The problem to note if a heartbeat was rejected. It is not given for a report, because a
	 * rejected report says nothing about the next one.
	 */
	refusal?: string,
): Promise<Outcome> {
	const { state, troubles, log, signal } = session;
	const isForeign = outcome.kind === "trouble" && outcome.foreignStatus === 401;
	if (outcome.kind === "unauthorized" || isForeign) {
		await noteRejection(session, !isForeign);
	} else if (outcome.kind === "trouble" && signal.aborted) {
		// The agent is stopping, so the request was cut off.
	} else if (outcome.kind === "trouble") {
		noteTrouble(session, outcome.reason);
		troubles.request.say(outcome.reason);
	} else {
		// Assay checks the key before the body, so a rejected body also proves that the key is valid.
		if (state.rejection) log.info("the service accepts this device's key");
		state.rejection = null;
		state.trouble = null;
		if (refusal !== undefined) noteTrouble(session, refusal);
		if (troubles.request.clear()) log.info("the service answers again");
	}
	await saveState(session);
	return outcome;
}

function noteTrouble({ state }: Session, reason: string): void {
	const since = state.trouble?.since ?? new Date().toISOString();
	state.trouble = { since, reason };
}

async function noteRejection(
	session: Session,
	isFromAssay: boolean,
): Promise<void> {
	const { state, troubles } = session;
	state.rejection = addRejection(state.rejection, isFromAssay);
	if (isFinal(state.rejection)) return forgetEnrollment(session);
	const reason = describeRejection(state.rejection);
	noteTrouble(session, reason);
	troubles.request.say(reason);
}

/**
 * Removes the invalid key, unless the device was enrolled again in the meantime. The reports stay:
 * if the same device is enrolled again, the agent sends them.
 */
async function forgetEnrollment(session: Session): Promise<void> {
	const { folder, credentials, state, log } = session;
	const stored = await readCredentials(folder);
	if (stored?.enrollment_id !== credentials.enrollment_id) return;
	state.refused_at = new Date().toISOString();
	state.trouble = null;
	await clearCredentials(folder);
	log.error(
		"the service no longer accepts this device's key: the device was revoked or enrolled elsewhere. The agent removed the key and keeps the waiting reports. To enroll again, get a new enrollment token and run the install command",
	);
}

/**
 * Counts reports that the service will never have, so that the next report tells it. Logs
 * `sentence`, which says why.
 */
export function noteDropped(
	{ state, log }: Session,
	dropped: number,
	sentence: string,
): void {
	state.dropped_total += dropped;
	state.dropped_since ??= new Date().toISOString();
	log.error(sentence);
}

/**
 * Saves the state. If it cannot be written, requests may come at a wrong time after a restart, but
 * no reports are lost.
 */
export async function saveState({
	folder,
	state,
	troubles,
}: Session): Promise<void> {
	try {
		await writeState(folder, state);
	} catch (error) {
		troubles.disk.say(
			`the agent's state cannot be stored in ${folder} (${(error as NodeJS.ErrnoException).code}); check whether the disk is full`,
			"error",
		);
	}
}
