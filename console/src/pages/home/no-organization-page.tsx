import { useQuery } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";
import { EmptyState } from "../../parts/empty-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageSkeleton } from "../../parts/page-skeleton.tsx";
import { closedOrganizationsQuery } from "../../queries.ts";

/**
 * Tells a user who is in no organization what to do. Leads to a closed organization if there is
 * one.
 */
export function Page() {
	const closed = useQuery(closedOrganizationsQuery);
	const [first] = closed.data ?? [];
	if (closed.isPending) return <PageSkeleton />;
	// The page of the organization says why it is closed.
	if (first) {
		return <Navigate to="/o/$org" params={{ org: first.id }} replace />;
	}
	return (
		<>
			<PageHeader title="No organization yet" />
			<EmptyState title="You belong to no organization">
				Ask an administrator for an invitation, and open its link.
			</EmptyState>
		</>
	);
}
