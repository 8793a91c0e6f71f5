import { createRoute, redirect } from "@tanstack/react-router";
import { signInWaysQuery } from "../pages/sign-in/link.ts";
import { meQuery, queryClient } from "../queries.ts";
import { root } from "./root-routes.ts";
import { page, withText } from "./route-parts.ts";

// In links to these pages, the secret comes after the #. See pages/sign-in/link.ts.
const setup = createRoute({
	getParentRoute: () => root,
	path: "/setup",
	component: page(() => import("../pages/sign-in/setup-page.tsx")),
});

const signIn = createRoute({
	getParentRoute: () => root,
	path: "/sign-in",
	/**
	 * `to` is the page that the visitor wanted to open. `ended` says that their session has ended.
	 * `problem` says why a sign-in with the identity provider failed, and `why` says more about it.
	 */
	validateSearch: (
		raw,
	): { to?: string; ended?: true; problem?: string; why?: string } => ({
		...withText(raw, "to", "problem", "why"),
		...(raw.ended ? { ended: true } : {}),
	}),
	// The question is asked while the page loads, so that the form does not jump.
	loader: () => queryClient.prefetchQuery(signInWaysQuery),
	component: page(() => import("../pages/sign-in/sign-in-page.tsx")),
});

const confirmed = createRoute({
	getParentRoute: () => root,
	path: "/confirmed",
	validateSearch: (raw): { problem?: string; why?: string } =>
		withText(raw, "problem", "why"),
	component: page(() => import("../pages/sign-in/confirmed-page.tsx")),
});

const providerTested = createRoute({
	getParentRoute: () => root,
	path: "/provider-tested",
	validateSearch: (
		raw,
	): { problem?: string; why?: string; email?: string; role?: string } =>
		withText(raw, "problem", "why", "email", "role"),
	component: page(() => import("../pages/sign-in/provider-tested-page.tsx")),
});

const invitation = createRoute({
	getParentRoute: () => root,
	path: "/invitation",
	/** `via` says that the visitor comes back from the identity provider. */
	validateSearch: (raw): { via?: "provider" } =>
		raw.via === "provider" ? { via: "provider" } : {},
	component: page(() => import("../pages/sign-in/invitation-page.tsx")),
});

const forgotPassword = createRoute({
	getParentRoute: () => root,
	path: "/forgot-password",
	component: page(() => import("../pages/sign-in/forgot-password-page.tsx")),
});

const resetPassword = createRoute({
	getParentRoute: () => root,
	path: "/reset-password",
	component: page(() => import("../pages/sign-in/reset-password-page.tsx")),
});

const myDevices = createRoute({
	getParentRoute: () => root,
	path: "/my-devices",
	component: page(() => import("../pages/my-devices/my-devices-page.tsx")),
});

const stopMails = createRoute({
	getParentRoute: () => root,
	path: "/stop-mails",
	component: page(() => import("../pages/stop-mails/stop-mails-page.tsx")),
});

const signDocument = createRoute({
	getParentRoute: () => root,
	path: "/sign-document",
	component: page(
		() => import("../pages/sign-document/sign-document-page.tsx"),
	),
});

/** The consent page of OAuth. The service sends browsers here from /oauth/authorize. */
const connectApp = createRoute({
	getParentRoute: () => root,
	path: "/connect-app",
	beforeLoad: async ({ location }) => {
		const me = await queryClient.ensureQueryData(meQuery);
		if (!me) throw redirect({ to: "/sign-in", search: { to: location.href } });
	},
	component: page(() => import("../pages/connect-app/connect-app-page.tsx")),
});

/** The pages that need no session, or begin one. */
export const visitorRoutes = [
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
] as const;
