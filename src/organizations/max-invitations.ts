/**
 * Maximum number of open invitations of an organization, including expired ones. The list of
 * invitations shows all of them, and a file may name as many people.
 */
export const MAX_OPEN = 2_000;
