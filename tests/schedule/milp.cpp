#include "schedule/milp.hpp"

#include <glpk.h>

#include <memory>

namespace mastic::schedule::test {
namespace {

// GLPK counts rows, columns and entries from 1.
struct Program {
    std::vector<int> rows{0};
    std::vector<int> columns{0};
    std::vector<double> coefficients{0};
    std::vector<double> objective{0};

    void add(int row, int column, double coefficient) {
        rows.push_back(row);
        columns.push_back(column);
        coefficients.push_back(coefficient);
    }
};

// Row 1 is the capacity, row 2 + j says that job j has one count.
Program program_of(const std::vector<JobValues>& jobs) {
    Program program;
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        for (std::size_t n = 0; n < jobs[j].value.size(); ++n) {
            if (jobs[j].value[n] == not_allowed) {
                continue;
            }
            program.objective.push_back(jobs[j].value[n]);
            const int column = static_cast<int>(program.objective.size()) - 1;
            program.add(static_cast<int>(j) + 2, column, 1);
            if (n > 0) {
                program.add(1, column, static_cast<double>(n));
            }
        }
    }
    return program;
}

}  // namespace

MilpSolution solve_milp(const std::vector<JobValues>& jobs, int nodes, double time_limit_s) {
    glp_term_out(GLP_OFF);
    const std::unique_ptr<glp_prob, void (*)(glp_prob*)> problem(glp_create_prob(), glp_delete_prob);
    glp_set_obj_dir(problem.get(), GLP_MAX);
    const Program program = program_of(jobs);
    glp_add_rows(problem.get(), static_cast<int>(jobs.size()) + 1);
    glp_set_row_bnds(problem.get(), 1, GLP_UP, 0, nodes);
    for (std::size_t j = 0; j < jobs.size(); ++j) {
        glp_set_row_bnds(problem.get(), static_cast<int>(j) + 2, GLP_FX, 1, 1);
    }
    glp_add_cols(problem.get(), static_cast<int>(program.objective.size()) - 1);
    for (std::size_t c = 1; c < program.objective.size(); ++c) {
        glp_set_col_kind(problem.get(), static_cast<int>(c), GLP_BV);
        glp_set_obj_coef(problem.get(), static_cast<int>(c), program.objective[c]);
    }
    glp_load_matrix(problem.get(), static_cast<int>(program.rows.size()) - 1, program.rows.data(),
                    program.columns.data(), program.coefficients.data());
    glp_iocp settings;
    glp_init_iocp(&settings);
    settings.presolve = GLP_ON;
    settings.cov_cuts = GLP_ON;
    settings.msg_lev = GLP_MSG_OFF;
    settings.tm_lim = static_cast<int>(1000 * time_limit_s);
    const int failed = glp_intopt(problem.get(), &settings);
    const int status = glp_mip_status(problem.get());
    const bool found = status == GLP_OPT || status == GLP_FEAS;
    return {failed == 0 && status == GLP_OPT, found ? glp_mip_obj_val(problem.get()) : not_allowed};
}

}  // namespace mastic::schedule::test
