import { ApiError, answerOf, call, send } from "../../api.ts";

/** Where the data of a report comes from. */
export interface ReportSource {
	call: typeof call;
	/** Returns the moment of the replica's oldest answer. Undefined for the primary. */
	moment: () => string | undefined;
}

/** Makes the source of one report. */
export function makeSource(isFromReplica: boolean): ReportSource {
	if (!isFromReplica) return { call, moment: () => undefined };
	let moment: string | undefined;
	const noteMoment = (headers: Headers) => {
		const given = headers.get("x-replica-as-of");
		if (given && (!moment || given < moment)) moment = given;
	};
	return {
		call: async (name, input) => {
			const response = await send(`/api/console/${name}?read_from=replica`, {
				method: "POST",
				headers: { "content-type": "application/json" },
				body: JSON.stringify(input),
			});
			noteMoment(response.headers);
			return answerOf<never>(response).catch(explain);
		},
		moment: () => moment,
	};
}

/** Says what the reader can do if the replica cannot be read. */
function explain(error: unknown): never {
	if (!(error instanceof ApiError) || error.status !== 503) throw error;
	throw new ApiError(
		error.status,
		error.code,
		"The replica cannot be read right now. Try again later, or switch “Read from the replica” off.",
	);
}
