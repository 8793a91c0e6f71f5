import { useQuery, useSuspenseQuery } from "@tanstack/react-query";
import { Outlet, useLocation, useParams } from "@tanstack/react-router";
import { useEffect } from "react";
import { asSentence } from "../api.ts";
import { rememberedName, rememberName } from "../organization.ts";
import { setTimeZone } from "../parts/days.ts";
import { EmptyState } from "../parts/empty-state.tsx";
import { NotFoundPage } from "../parts/error-state.tsx";
import { ButtonLink } from "../parts/links.tsx";
import { PageHeader } from "../parts/page-header.tsx";
import { PageSkeleton } from "../parts/page-skeleton.tsx";
import { firstDayOf, setPastDay, usePast } from "../past.ts";
import {
	closedOrganizationsQuery,
	meQuery,
	organizationsQuery,
} from "../queries.ts";
import { BeforeFirstDay } from "./before-first-day.tsx";
import { PastBanner } from "./past-banner.tsx";
import { type ClosedOrganization, SignInWays } from "./sign-in-ways.tsx";

/**
 * Renders the pages of an organization as long as the user belongs to it. A membership can end at
 * any time.
 */
export function InOrganization() {
	const { data } = useSuspenseQuery(organizationsQuery);
	const { data: me } = useQuery(meQuery);
	const { org = "" } = useParams({ strict: false });
	const found = data.find(({ id }) => id === org);
	const name = found?.name;
	// The pages below format days while they render, so this cannot wait for an effect.
	setTimeZone(found?.time_zone);
	const { day, shows } = usePast();
	setPastDay(shows ? day : undefined);
	useEffect(() => {
		if (me && name) rememberName(me.id, org, name);
	}, [me, org, name]);
	if (found) {
		const first = firstDayOf(found, shows);
		return (
			<>
				<PastBanner />
				{day && shows && day < first ? (
					<BeforeFirstDay day={day} first={first} />
				) : (
					<Outlet />
				)}
			</>
		);
	}
	return <NotAmongYours org={org} />;
}

/** Says why the user does not reach the organization: it is closed, left, or never was theirs. */
function NotAmongYours({ org }: { org: string }) {
	const { data } = useSuspenseQuery(organizationsQuery);
	const { data: me } = useQuery(meQuery);
	const closed = useQuery(closedOrganizationsQuery);
	// An organization that is open again is in the list, and this page gives way to it.
	const found = closed.data?.find(({ id }) => id === org);
	const needsSignIn = found?.why === "SESSION";
	useQuery({
		...organizationsQuery,
		refetchInterval: needsSignIn ? false : 10_000,
	});
	if (closed.isPending) return <PageSkeleton />;
	if (needsSignIn) {
		return <SignInAgain message={found.message} hasOthers={data.length > 0} />;
	}
	if (found?.why === "PROVIDER") {
		return <SignInWithProvider found={found} hasOthers={data.length > 0} />;
	}
	if (found?.why === "ENDED") {
		return <Ended message={found.message} hasOthers={data.length > 0} />;
	}
	if (found) {
		return <Closed message={found.message} hasOthers={data.length > 0} />;
	}
	const lost = me && rememberedName(me.id, org);
	return lost ? (
		<Lost name={lost} hasOthers={data.length > 0} />
	) : (
		<NotFoundPage />
	);
}

function Closed({
	message,
	hasOthers,
}: {
	message: string;
	hasOthers: boolean;
}) {
	return (
		<>
			<PageHeader title="This organization is closed for now" />
			<EmptyState
				title={message}
				actions={
					hasOthers && (
						<ButtonLink to="/">Go to your other organization</ButtonLink>
					)
				}
			>
				Its devices keep their keys and wait. This page goes on by itself when
				the organization is open again.
			</EmptyState>
		</>
	);
}

/** Says that the session has exceeded the limits of the organization. */
function SignInAgain({
	message,
	hasOthers,
}: {
	message: string;
	hasOthers: boolean;
}) {
	const { href } = useLocation();
	return (
		<>
			<PageHeader title="Your session has ended here" />
			<EmptyState
				title={asSentence(message)}
				actions={
					<>
						<ButtonLink to="/sign-in" search={{ to: href }}>
							Sign in again
						</ButtonLink>
						{hasOthers && (
							<ButtonLink to="/" variant="default">
								Go to your other organization
							</ButtonLink>
						)}
					</>
				}
			>
				Administrators set this limit for their organization. Your session goes
				on in your other organizations.
			</EmptyState>
		</>
	);
}

/** Says that the organization accepts only its identity provider, and leads there. */
function SignInWithProvider({
	found: { message, sign_in_ways },
	hasOthers,
}: {
	found: ClosedOrganization;
	hasOthers: boolean;
}) {
	const { href } = useLocation();
	return (
		<>
			<PageHeader title="Sign in with your company" />
			<EmptyState
				title={asSentence(message)}
				actions={
					<>
						<SignInWays ways={sign_in_ways} to={href} />
						{hasOthers && (
							<ButtonLink to="/" variant="default">
								Go to your other organization
							</ButtonLink>
						)}
					</>
				}
			>
				Administrators set this rule for their organization. If the provider
				does not let you in, ask them. API tokens that you make before you sign
				in there do not reach the organization.
			</EmptyState>
		</>
	);
}

/** Says that the last day of the membership is over. */
function Ended({
	message,
	hasOthers,
}: {
	message: string;
	hasOthers: boolean;
}) {
	return (
		<>
			<PageHeader title="Your membership has ended" />
			<EmptyState
				title={asSentence(message)}
				actions={
					hasOthers ? (
						<ButtonLink to="/">Go to your other organization</ButtonLink>
					) : (
						<ButtonLink to="/account">Go to your account</ButtonLink>
					)
				}
			>
				Unsaved changes are lost. You need no new invitation. This page goes on
				by itself when an administrator has changed the last day.
			</EmptyState>
		</>
	);
}

function Lost({ name, hasOthers }: { name: string; hasOthers: boolean }) {
	const title = `You no longer belong to ${name}`;
	return (
		<>
			<PageHeader title={title} />
			<EmptyState
				title="Your membership has ended"
				actions={
					hasOthers ? (
						<ButtonLink to="/">Go to your other organization</ButtonLink>
					) : (
						<ButtonLink to="/account">Go to your account</ButtonLink>
					)
				}
			>
				An administrator removed you, or you left. Unsaved changes are lost. If
				this is a mistake, ask an administrator of {name} for an invitation.
			</EmptyState>
		</>
	);
}
