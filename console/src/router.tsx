import {
	createRootRoute,
	createRoute,
	createRouter,
	lazyRouteComponent,
	notFound,
	Outlet,
	redirect,
} from "@tanstack/react-router";
import type { ComponentType } from "react";
import { parseListSearch } from "./list-search.ts";
import { lastOrganization } from "./organization.ts";
import { signInWaysQuery } from "./pages/sign-in/link.ts";
import { ErrorPage, ErrorWindow, NotFoundPage } from "./parts/error-state.tsx";
import { PageSkeleton } from "./parts/page-skeleton.tsx";
import { NOW } from "./past.ts";
import {
	meQuery,
	onSignedOut,
	organizationsQuery,
	queryClient,
} from "./queries.ts";
import { findRegisterKind } from "./register-kinds.ts";
import { InOrganization } from "./shell/in-organization.tsx";
import { Shell } from "./shell/shell.tsx";

/**
 * Loads the file of a page when the page is first opened. The type of its export `Page` is not
 * checked here: the page takes its types from its route, so the route cannot take types from the
 * page.
 */
const page = (load: () => Promise<unknown>) =>
	lazyRouteComponent(load as () => Promise<{ Page: ComponentType }>, "Page");

const text = (value: unknown) =>
	typeof value === "string" && value !== "" ? value : undefined;

const root = createRootRoute({ component: Outlet });

// In links to these pages, the secret comes after the #. See pages/sign-in/link.ts.
const setup = createRoute({
	getParentRoute: () => root,
	path: "/setup",
	component: page(() => import("./pages/sign-in/setup-page.tsx")),
});

const signIn = createRoute({
	getParentRoute: () => root,
	path: "/sign-in",
	/**
	 * `to` is the page that the visitor wanted to open. `ended` says that their session has ended.
	 * `problem` says why a sign-in with the identity provider failed.
	 */
	validateSearch: (raw): { to?: string; ended?: true; problem?: string } => ({
		...withText(raw, "to", "problem"),
		...(raw.ended ? { ended: true } : {}),
	}),
	// The question is asked while the page loads, so that the form does not jump.
	loader: () => queryClient.prefetchQuery(signInWaysQuery),
	component: page(() => import("./pages/sign-in/sign-in-page.tsx")),
});

const confirmed = createRoute({
	getParentRoute: () => root,
	path: "/confirmed",
	validateSearch: (raw): { problem?: string } => withText(raw, "problem"),
	component: page(() => import("./pages/sign-in/confirmed-page.tsx")),
});

const providerTested = createRoute({
	getParentRoute: () => root,
	path: "/provider-tested",
	validateSearch: (raw): { problem?: string; email?: string; role?: string } =>
		withText(raw, "problem", "email", "role"),
	component: page(() => import("./pages/sign-in/provider-tested-page.tsx")),
});

const invitation = createRoute({
	getParentRoute: () => root,
	path: "/invitation",
	/** `via` says that the visitor comes back from the identity provider. */
	validateSearch: (raw): { via?: "provider" } =>
		raw.via === "provider" ? { via: "provider" } : {},
	component: page(() => import("./pages/sign-in/invitation-page.tsx")),
});

const forgotPassword = createRoute({
	getParentRoute: () => root,
	path: "/forgot-password",
	component: page(() => import("./pages/sign-in/forgot-password-page.tsx")),
});

const resetPassword = createRoute({
	getParentRoute: () => root,
	path: "/reset-password",
	component: page(() => import("./pages/sign-in/reset-password-page.tsx")),
});

const myDevices = createRoute({
	getParentRoute: () => root,
	path: "/my-devices",
	component: page(() => import("./pages/my-devices/my-devices-page.tsx")),
});

const stopMails = createRoute({
	getParentRoute: () => root,
	path: "/stop-mails",
	component: page(() => import("./pages/stop-mails/stop-mails-page.tsx")),
});

const signDocument = createRoute({
	getParentRoute: () => root,
	path: "/sign-document",
	component: page(() => import("./pages/sign-document/sign-document-page.tsx")),
});

/** The consent page of OAuth. The service sends browsers here from /oauth/authorize. */
const connectApp = createRoute({
	getParentRoute: () => root,
	path: "/connect-app",
	beforeLoad: async ({ location }) => {
		const me = await queryClient.ensureQueryData(meQuery);
		if (!me) throw redirect({ to: "/sign-in", search: { to: location.href } });
	},
	component: page(() => import("./pages/connect-app/connect-app-page.tsx")),
});

const signedIn = createRoute({
	getParentRoute: () => root,
	id: "signed-in",
	beforeLoad: async ({ location }) => {
		const me = await queryClient.ensureQueryData(meQuery);
		if (!me) {
			const to = location.href === "/" ? undefined : location.href;
			throw redirect({ to: "/sign-in", search: to ? { to } : {} });
		}
		await queryClient.ensureQueryData(organizationsQuery);
	},
	component: Shell,
	errorComponent: ErrorWindow,
});

const start = createRoute({
	getParentRoute: () => signedIn,
	path: "/",
	beforeLoad: async () => {
		const found = await queryClient.ensureQueryData(organizationsQuery);
		const last = lastOrganization();
		const organization = found.find(({ id }) => id === last) ?? found[0];
		if (organization) {
			throw redirect({
				to: "/o/$org",
				params: { org: organization.id },
				replace: true,
			});
		}
	},
	component: page(() => import("./pages/home/no-organization-page.tsx")),
});

const account = createRoute({
	getParentRoute: () => signedIn,
	path: "/account",
	component: page(() => import("./pages/account/account-page.tsx")),
});

const help = createRoute({
	getParentRoute: () => signedIn,
	path: "/help/$page",
	component: page(() => import("./pages/help/help-page.tsx")),
});

const organization = createRoute({
	getParentRoute: () => signedIn,
	path: "/o/$org",
	/** `as_of` is a past day as YYYY-MM-DD. Links within the organization keep it. */
	validateSearch: (raw): { as_of?: string } => withText(raw, "as_of"),
	search: {
		middlewares: [
			({ search, next }) => {
				const { as_of = search.as_of, ...others } = next(search);
				return as_of && as_of !== NOW ? { ...others, as_of } : others;
			},
		],
	},
	component: InOrganization,
});

const home = createRoute({
	getParentRoute: () => organization,
	path: "/",
	staticData: { showsPast: true },
	component: page(() => import("./pages/home/home-page.tsx")),
});

const firstSteps = createRoute({
	getParentRoute: () => organization,
	path: "/first-steps",
	validateSearch: (raw): { step?: string } => withText(raw, "step"),
	component: page(() => import("./pages/first-steps/first-steps-page.tsx")),
});

const reports = createRoute({
	getParentRoute: () => organization,
	path: "/reports",
	component: page(() => import("./pages/reports/reports-page.tsx")),
});

const report = createRoute({
	getParentRoute: () => organization,
	path: "/reports/$report",
	/**
	 * `day` is a day as YYYY-MM-DD, `framework` the id of the framework of the report, and `version`
	 * the number of an approved version.
	 */
	validateSearch: (
		raw,
	): { day?: string; framework?: string; version?: number } => {
		const { day, framework } = withText(raw, "day", "framework");
		const isDay = day !== undefined && /^\d{4}-\d\d-\d\d$/.test(day);
		return {
			...(isDay && !Number.isNaN(Date.parse(day)) ? { day } : {}),
			...(framework ? { framework } : {}),
			...(Number.isSafeInteger(raw.version)
				? { version: Number(raw.version) }
				: {}),
		};
	},
	component: page(() => import("./pages/reports/report-page.tsx")),
});

const snapshots = createRoute({
	getParentRoute: () => organization,
	path: "/snapshots",
	validateSearch: parseListSearch,
	component: page(() => import("./pages/snapshots/snapshots-page.tsx")),
});

const snapshot = createRoute({
	getParentRoute: () => organization,
	path: "/snapshots/$id",
	validateSearch: (raw): { tab?: string } => withText(raw, "tab"),
	component: page(() => import("./pages/snapshots/snapshot-page.tsx")),
});

type DeviceSearch = {
	[Name in "tab" | "check" | "range" | "at" | "report" | "cursor"]?: string;
};

const devices = createRoute({
	getParentRoute: () => organization,
	path: "/devices",
	validateSearch: parseListSearch,
	staticData: { showsPast: true },
	component: page(() => import("./pages/devices/devices-page.tsx")),
});

const addDevice = createRoute({
	getParentRoute: () => organization,
	path: "/devices/new",
	component: page(() => import("./pages/devices/add-device-page.tsx")),
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
	component: page(() => import("./pages/devices/device-page.tsx")),
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
	staticData: { showsPast: true },
	component: page(() => import("./pages/registers/list-page.tsx")),
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
	component: page(() => import("./pages/registers/create-page.tsx")),
});

const importRecords = createRoute({
	getParentRoute: () => register,
	path: "/import",
	component: page(() => import("./pages/registers/import-page.tsx")),
});

const record = createRoute({
	getParentRoute: () => register,
	path: "/$id",
	/** `show` says which controls of a framework are listed, or which version of a document. */
	validateSearch: (raw): { edit?: true; tab?: string; show?: string } => ({
		...(raw.edit ? { edit: true } : {}),
		...withText(raw, "tab", "show"),
	}),
	staticData: { showsPast: true },
	component: page(() => import("./pages/registers/record-page.tsx")),
});

const riskMatrix = createRoute({
	getParentRoute: () => organization,
	path: "/r/risk/matrix",
	validateSearch: (raw): { of?: string } => withText(raw, "of"),
	staticData: { showsPast: true },
	component: page(() => import("./pages/registers/risk-matrix-page.tsx")),
});

const enrollmentKeys = createRoute({
	getParentRoute: () => organization,
	path: "/devices/enrollment-keys",
	validateSearch: parseListSearch,
	component: page(() => import("./pages/devices/enrollment-keys-page.tsx")),
});

const deviceGroups = createRoute({
	getParentRoute: () => organization,
	path: "/devices/groups",
	validateSearch: parseListSearch,
	component: page(() => import("./pages/devices/groups-page.tsx")),
});

const deviceExceptions = createRoute({
	getParentRoute: () => organization,
	path: "/devices/exceptions",
	validateSearch: parseListSearch,
	component: page(() => import("./pages/devices/exceptions-page.tsx")),
});

const fleetInPeriod = createRoute({
	getParentRoute: () => organization,
	path: "/devices/period",
	validateSearch: parseListSearch,
	component: page(() => import("./pages/devices/period-page.tsx")),
});

const deviceException = createRoute({
	getParentRoute: () => organization,
	path: "/devices/exceptions/$id",
	validateSearch: parseListSearch,
	component: page(() => import("./pages/devices/exception-page.tsx")),
});

const settingsOrganization = createRoute({
	getParentRoute: () => organization,
	path: "/settings/organization",
	component: page(() => import("./pages/settings/organization-page.tsx")),
});

const settingsDevicePolicy = createRoute({
	getParentRoute: () => organization,
	path: "/settings/device-policy",
	component: page(() => import("./pages/settings/device-policy-page.tsx")),
});

const settingsMembers = createRoute({
	getParentRoute: () => organization,
	path: "/settings/members",
	validateSearch: parseListSearch,
	component: page(() => import("./pages/settings/members-page.tsx")),
});

const settingsSignIn = createRoute({
	getParentRoute: () => organization,
	path: "/settings/sign-in",
	component: page(() => import("./pages/settings/sign-in-settings-page.tsx")),
});

const settingsApiTokens = createRoute({
	getParentRoute: () => organization,
	path: "/settings/api-tokens",
	validateSearch: (raw): { token?: string; of?: string; age?: string } =>
		withText(raw, "token", "of", "age"),
	component: page(() => import("./pages/settings/api-tokens-page.tsx")),
});

const settingsWebhooks = createRoute({
	getParentRoute: () => organization,
	path: "/settings/webhooks",
	component: page(() => import("./pages/settings/webhooks-page.tsx")),
});

const settingsNotifications = createRoute({
	getParentRoute: () => organization,
	path: "/settings/notifications",
	component: page(() => import("./pages/settings/notifications-page.tsx")),
});

const settingsMail = createRoute({
	getParentRoute: () => organization,
	path: "/settings/mail",
	component: page(() => import("./pages/settings/mail-page.tsx")),
});

const settingsAuditLog = createRoute({
	getParentRoute: () => organization,
	path: "/settings/audit-log",
	validateSearch: parseListSearch,
	component: page(() => import("./pages/settings/audit-log-page.tsx")),
});

/** All addresses of the console. `<Link to="…">` and `navigate` accept only these. */
const routeTree = root.addChildren([
	setup,
	signIn,
	confirmed,
	providerTested,
	invitation,
	forgotPassword,
	resetPassword,
	myDevices,
	stopMails,
	signDocument,
	connectApp,
	signedIn.addChildren([
		start,
		account,
		help,
		organization.addChildren([
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
			settingsOrganization,
			settingsDevicePolicy,
			settingsMembers,
			settingsSignIn,
			settingsApiTokens,
			settingsWebhooks,
			settingsNotifications,
			settingsMail,
			settingsAuditLog,
		]),
	]),
]);

export const router = createRouter({
	routeTree,
	defaultPreload: "intent",
	scrollRestoration: true,
	defaultPendingComponent: PageSkeleton,
	defaultErrorComponent: ErrorPage,
	defaultNotFoundComponent: NotFoundPage,
});

declare module "@tanstack/react-router" {
	interface Register {
		router: typeof router;
	}
}

onSignedOut(() => {
	const { pathname, href } = router.state.location;
	if (pathname === "/sign-in") return;
	// A form with unsaved input may prevent this navigation. Its page then stays as it is.
	queryClient.removeQueries({ queryKey: meQuery.queryKey });
	void router.navigate({
		to: "/sign-in",
		search: { to: href, ended: true },
	});
});

// When a user has signed out, none of the loaded data may remain for the next user.
router.subscribe("onResolved", ({ toLocation, fromLocation }) => {
	if (fromLocation && toLocation.pathname === "/sign-in") queryClient.clear();
});

function withText<Name extends string>(
	raw: Record<string, unknown>,
	...names: Name[]
): { [N in Name]?: string } {
	const found: { [N in Name]?: string } = {};
	for (const name of names) {
		const value = text(raw[name]);
		if (value !== undefined) found[name] = value;
	}
	return found;
}
