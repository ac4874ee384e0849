// Runs a script's main function; the program fails if the function fails or takes longer than a minute.
module.exports = (main) => {
  setTimeout(() => {
    console.error('it takes too long');
    process.exit(1);
  }, 60000).unref();
  main().catch((e) => {
    console.error(e);
    process.exit(1);
  });
};
