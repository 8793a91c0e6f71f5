import { createRoute, notFound, Outlet } from "@tanstack/react-router";
import { parseListSearch } from "../list-search.ts";
import { isPeriod, type Period } from "../pages/reports/board/periods.ts";
import { withCheckState } from "../parts/devices/device-search.ts";
import { findRegisterKind } from "../register-kinds.ts";
import { organization } from "./organization-route.ts";
import { page, withText } from "./route-parts.ts";

type DeviceSearch = {
	[Name in "tab" | "check" | "range" | "at" | "report" | "cursor"]?: string;
};

const home = createRoute({
	getParentRoute: () => organization,
	path: "/",
	staticData: { showsPast: "records" },
	component: page(() => import("../pages/home/home-page.tsx")),
});

const firstSteps = createRoute({
	getParentRoute: () => organization,
	path: "/first-steps",
	validateSearch: (raw): { step?: string } => withText(raw, "step"),
	component: page(() => import("../pages/first-steps/first-steps-page.tsx")),
});

const reports = createRoute({
	getParentRoute: () => organization,
	path: "/reports",
	component: page(() => import("../pages/reports/reports-page.tsx")),
});

const report = createRoute({
	getParentRoute: () => organization,
	path: "/reports/$report",
	/**
	 * `day` is a day as YYYY-MM-DD, `framework` the id of the framework of the report, `version` the
	 * number of an approved version, `period` how far back the report looks, and `from` the server that
	 * it is read from.
	 */
	validateSearch: (
		raw,
	): {
		day?: string;
		framework?: string;
		version?: number;
		period?: Period;
		from?: string | undefined;
	} => {
		const { day } = withText(raw, "day");
		const isDay = day !== undefined && /^\d{4}-\d\d-\d\d$/.test(day);
		return {
			...(isDay && !Number.isNaN(Date.parse(day)) ? { day } : {}),
			...withText(raw, "framework", "from"),
			...(Number.isSafeInteger(raw.version)
				? { version: Number(raw.version) }
				: {}),
			...(isPeriod(raw.period) ? { period: raw.period } : {}),
		};
	},
	component: page(() => import("../pages/reports/report-page.tsx")),
});

const snapshots = createRoute({
	getParentRoute: () => organization,
	path: "/snapshots",
	validateSearch: parseListSearch,
	component: page(() => import("../pages/snapshots/snapshots-page.tsx")),
});

const snapshot = createRoute({
	getParentRoute: () => organization,
	path: "/snapshots/$id",
	validateSearch: (raw): { tab?: string } => withText(raw, "tab"),
	component: page(() => import("../pages/snapshots/snapshot-page.tsx")),
});

const devices = createRoute({
	getParentRoute: () => organization,
	path: "/devices",
	validateSearch: (raw) => withCheckState(parseListSearch(raw)),
	staticData: { showsPast: "devices" },
	component: page(() => import("../pages/devices/devices-page.tsx")),
});

const addDevice = createRoute({
	getParentRoute: () => organization,
	path: "/devices/new",
	component: page(() => import("../pages/devices/add-device-page.tsx")),
});

const enrollmentKeys = createRoute({
	getParentRoute: () => organization,
	path: "/devices/enrollment-keys",
	validateSearch: parseListSearch,
	component: page(() => import("../pages/devices/enrollment-keys-page.tsx")),
});

const deviceGroups = createRoute({
	getParentRoute: () => organization,
	path: "/devices/groups",
	validateSearch: parseListSearch,
	component: page(() => import("../pages/devices/groups-page.tsx")),
});

const fleetInPeriod = createRoute({
	getParentRoute: () => organization,
	path: "/devices/period",
	validateSearch: parseListSearch,
	component: page(() => import("../pages/devices/period-page.tsx")),
});

const deviceExceptions = createRoute({
	getParentRoute: () => organization,
	path: "/devices/exceptions",
	validateSearch: parseListSearch,
	component: page(() => import("../pages/devices/exceptions-page.tsx")),
});

const deviceException = createRoute({
	getParentRoute: () => organization,
	path: "/devices/exceptions/$id",
	validateSearch: parseListSearch,
	component: page(() => import("../pages/devices/exception-page.tsx")),
});

const device = createRoute({
	getParentRoute: () => organization,
	path: "/devices/$id",
	/**
	 * `range` says how far the history goes back, `at` is a day as YYYY-MM-DD, and `cursor` is the
	 * page of the reports.
	 */
	validateSearch: (raw): DeviceSearch =>
		withText(raw, "tab", "check", "range", "at", "report", "cursor"),
	component: page(() => import("../pages/devices/device-page.tsx")),
});

const riskMatrix = createRoute({
	getParentRoute: () => organization,
	path: "/r/risk/matrix",
	validateSearch: (raw): { of?: string } => withText(raw, "of"),
	staticData: { showsPast: "records" },
	component: page(() => import("../pages/registers/risk-matrix-page.tsx")),
});

const register = createRoute({
	getParentRoute: () => organization,
	path: "/r/$kind",
	beforeLoad: ({ params }) => {
		if (!findRegisterKind(params.kind)) throw notFound();
	},
	component: Outlet,
});

const list = createRoute({
	getParentRoute: () => register,
	path: "/",
	validateSearch: parseListSearch,
	staticData: { showsPast: "records" },
	component: page(() => import("../pages/registers/list-page.tsx")),
});

const create = createRoute({
	getParentRoute: () => register,
	path: "/new",
	/**
	 * The parameters are initial values of the new record, such as the framework of a control.
	 * `linked_to` has the ids of the records to link it to, separated by commas.
	 */
	validateSearch: (raw): Record<string, string> =>
		Object.fromEntries(
			Object.entries(raw).filter(([, value]) => typeof value === "string"),
		) as Record<string, string>,
	component: page(() => import("../pages/registers/create-page.tsx")),
});

const importRecords = createRoute({
	getParentRoute: () => register,
	path: "/import",
	component: page(() => import("../pages/registers/import-page.tsx")),
});

const record = createRoute({
	getParentRoute: () => register,
	path: "/$id",
	/** `show` says which controls of a framework are listed, or which version of a document. */
	validateSearch: (raw): { edit?: true; tab?: string; show?: string } => ({
		...(raw.edit ? { edit: true } : {}),
		...withText(raw, "tab", "show"),
	}),
	staticData: { showsPast: "records" },
	component: page(() => import("../pages/registers/record-page.tsx")),
});

/** The pages of an organization, without those under Settings. */
export const organizationRoutes = [
	home,
	firstSteps,
	reports,
	report,
	snapshots,
	snapshot,
	devices,
	addDevice,
	enrollmentKeys,
	deviceGroups,
	fleetInPeriod,
	deviceExceptions,
	deviceException,
	device,
	riskMatrix,
	register.addChildren([list, create, importRecords, record]),
] as const;
