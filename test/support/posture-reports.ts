import { expect } from "vitest";
import { makeId } from "../../src/id.ts";
import {
	readError,
	shareService,
	startService,
	type TestDevice,
	type TestService,
} from "./service.ts";

interface StoredResult {
	check_key: string;
	status: string;
	observed_at: string;
	evidence?: Record<string, unknown>;
}

interface Stored {
	reports: {
		report_id: string;
		organization_id: string;
		results: StoredResult[];
	}[];
	/** The results of all reports. */
	results: StoredResult[];
	spans: (Record<string, unknown> & { since: Date })[];
}

export const NOTHING: Stored = { reports: [], results: [], spans: [] };

/** A service that receives posture reports. The tests can see what it stores of them. */
export interface PostureApi {
	assay: TestService;
	/** Sends results, or a complete body given as text. Returns the answer. */
	report: (device: TestDevice, results: unknown) => Promise<Response>;
	/** Returns everything that is stored about a device's posture, in the order of arrival. */
	stored: (device: TestDevice) => Promise<Stored>;
	/**
	 * Expects that the results are rejected with 400 and these words, and that none of them is
	 * stored.
	 */
	expectRefused: (
		device: TestDevice,
		results: unknown,
		says: string,
	) => Promise<void>;
	newReportId: (organizationId?: string) => string;
}

export async function startPostureApi(): Promise<PostureApi> {
	return withReports(await startService());
}

/** Returns the same for the shared service, under the conditions of `shareService`. */
export async function sharePostureApi(): Promise<PostureApi> {
	return withReports(await shareService());
}

function withReports(assay: TestService): PostureApi {
	const report: PostureApi["report"] = (device, results) => {
		const body = typeof results === "string" ? results : { results };
		return assay.post("postures", body, { key: device.key });
	};

	const stored: PostureApi["stored"] = async (device) => {
		const { owner } = assay.database;
		const reports = await owner.query<Stored["reports"][number]>(
			"select report_id, organization_id, results from posture_reports where device_id = $1 order by received_at, report_id",
			[device.id],
		);
		const spans = await owner.query<Stored["spans"][number]>(
			"select * from posture_spans where device_id = $1 order by check_key, since",
			[device.id],
		);
		return {
			reports: reports.rows,
			results: reports.rows.flatMap((row) => row.results),
			spans: spans.rows,
		};
	};

	return {
		assay,
		report,
		stored,
		expectRefused: async (device, results, says) => {
			expect(await readError(await report(device, results))).toEqual({
				status: 400,
				error: "bad_request",
				message: expect.stringContaining(says) as string,
			});
			expect(await stored(device)).toEqual(NOTHING);
		},
		newReportId: (organizationId = assay.organizationId) =>
			makeId(organizationId, "device_posture_report"),
	};
}
