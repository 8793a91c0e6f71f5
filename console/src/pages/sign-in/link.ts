import { queryOptions } from "@tanstack/react-query";
import { useLocation } from "@tanstack/react-router";
import type { SignInWays } from "../../../../src/http/provider-sign-in.ts";
import type { Link } from "../../../../src/sign-in/one-time-link.ts";
import { ApiError, request } from "../../api.ts";

/**
 * Returns the secret of a link. It comes after the #, because browsers do not send that part to
 * servers.
 */
export function useLinkToken(): string {
	return useLocation({ select: ({ hash }) => hash });
}

/**
 * Asks the service what the link is for. The page asks only once, because the link becomes invalid
 * when it is used.
 */
export function linkQuery<Purpose extends Link["purpose"]>(
	purpose: Purpose,
	token: string,
) {
	return queryOptions({
		queryKey: ["link", token] as const,
		queryFn: async ({ signal }) => {
			const body = { token };
			const link = await request<Link>("/api/link", { body, signal });
			if (link.purpose !== purpose) {
				throw new ApiError(
					400,
					"bad_request",
					"This link is for something else.",
				);
			}
			return link as Extract<Link, { purpose: Purpose }>;
		},
		enabled: token !== "",
		staleTime: Number.POSITIVE_INFINITY,
	});
}

/**
 * Asks whether the service still has to be set up, which is the case while nobody has an account.
 */
export const setupQuery = queryOptions({
	queryKey: ["setup"],
	queryFn: () => request<{ setup_needed: boolean }>("/api/setup"),
});

/** Asks how people sign in: with an identity provider, with passwords, or both. */
export const signInWaysQuery = queryOptions({
	queryKey: ["sign-in-ways"],
	queryFn: () => request<SignInWays>("/api/sign-in-ways"),
	staleTime: Number.POSITIVE_INFINITY,
});
