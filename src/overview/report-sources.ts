import { z } from "zod";
import { defineOperation } from "../operation.ts";

export const listReportSources = defineOperation({
	name: "listReportSources",
	title: "List the sources of reports",
	description:
		"List the servers from which the console can read a report: the primary, and the read replica if the service has one.",
	toolset: "overview",
	surface: "console",
	access: "self",
	isReadOnly: true,
	tenant: null,
	input: z.strictObject({}),
	output: z.object({ sources: z.array(z.enum(["primary", "replica"])) }),
	run: async ({ services }) => {
		const sources: ("primary" | "replica")[] = ["primary"];
		if (services.replica) sources.push("replica");
		return { sources };
	},
});
