package topology

// AdminExchange is the system exchange of every virtual host to which users
// with the policymaker or administrator tag publish admin commands (DESIGN §7).
const AdminExchange = "candlemark.admin"
